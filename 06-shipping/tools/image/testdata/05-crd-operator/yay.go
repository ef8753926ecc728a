// Package yay stands for the operators of stage 5: a module in a folder.
package yay

// Say is what it says.
const Say = "YAY"
