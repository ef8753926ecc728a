package member

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParametersInPgControl(t *testing.T) {
	control := func(version uint32) []byte {
		content := make([]byte, 8192)
		binary.LittleEndian.PutUint32(content[8:], version)
		for i, value := range []uint32{300, 8, 20, 5, 64} {
			binary.LittleEndian.PutUint32(content[180+4*i:], value)
		}
		return content
	}
	for name, tc := range map[string]struct {
		content []byte
		want    []int
	}{
		"PostgreSQL 15 to 17": {control(1300), []int{300, 8, 20, 5, 64}},
		"PostgreSQL 18":       {control(1800), []int{300, 8, 20, 5, 64}},
		"one to come":         {control(1900), nil},
		"another byte order":  {control(0x14050000), nil},
		"half a file":         {control(1300)[:190], nil},
		"an empty file":       {nil, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, parseControl(tc.content)) })
	}
}
