package main

import "regexp"

// glossary has the words that no name may have, and what to write instead.
var glossary = byWord(map[string][]string{
	"checkAccess, or preflight":                 {"knock", "knocks", "knocked"},
	"record, notify, report or print":           {"tell", "tells", "told", "telling", "say", "says", "said"},
	"reconcile":                                 {"pass"},
	"expectations, or cache":                    {"memory", "memories"},
	"env, case, run or withFault":               {"scene", "scenes", "story", "stories", "play", "plays", "suffering"},
	"modules, or repository":                    {"house"},
	"stallTimeout, flushTimeout or testTimeout": {"stillness", "farewell", "patience"},
	"a client, a user or a program":             {"whoever"},
})

func byWord(byReplacement map[string][]string) map[string]string {
	words := map[string]string{}
	for replacement, each := range byReplacement {
		for _, word := range each {
			words[word] = replacement
		}
	}
	return words
}

// phrases are wrong in any comment and any text.
var phrases = map[string]*regexp.Regexp{
	"a request by its name: GET, LIST, WATCH":   regexp.MustCompile(`(?i)\bask(s|ed|ing)?\s+(the|an|each)\s+(api\s+)?server\b`),
	"record, notify, report or print":           regexp.MustCompile(`(?i)\b(tells?|told|telling)\s+of\b`),
	"checkAccess, or preflight":                 regexp.MustCompile(`(?i)\bknock(s|ed|ing)?\b`),
	"being processed":                           regexp.MustCompile(`(?i)\bin\s+hand\b`),
	"stale":                                     regexp.MustCompile(`(?i)\bis\s+behind\b`),
	"unknown":                                   regexp.MustCompile(`(?i)\bof\s+which\s+(no\s+more|nothing\s+more)\s+is\s+known\b`),
	"stallTimeout, flushTimeout or testTimeout": regexp.MustCompile(`(?i)\b(stillness|farewell|patience)\b`),
	"a client, a user or a program":             regexp.MustCompile(`(?i)\bwhoever\b`),
	"environment, case or run":                  regexp.MustCompile(`(?i)\bscenes?\b`),
	"this repository":                           regexp.MustCompile(`(?i)\bof\s+the\s+house\b`),
}
