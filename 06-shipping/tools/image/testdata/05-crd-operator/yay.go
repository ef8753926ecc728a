// Package yay stands for the operators of stage 5: a module in a folder.
package yay

// Word is what it prints.
const Word = "YAY"
