package practice

import (
	"encoding/json"
	"maps"
)

// unknown are the fields of an object that this version of the workshop does not know.
// They are written as they were read: another version knows them.
type unknown map[string]json.RawMessage

// read decodes an object into known, and keeps the fields that known does not write.
func (u *unknown) read(object []byte, known any) error {
	if err := json.Unmarshal(object, known); err != nil {
		return err
	}
	var all unknown
	if err := json.Unmarshal(object, &all); err != nil {
		return err
	}
	fields, err := fieldsOf(known)
	if err != nil {
		return err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return fields[name] != nil })
	if *u = nil; len(all) > 0 {
		*u = all
	}
	return nil
}

// write encodes known, together with the fields that are not.
func (u unknown) write(known any) ([]byte, error) {
	fields, err := fieldsOf(known)
	if err != nil {
		return nil, err
	}
	all := unknown{}
	maps.Copy(all, u)
	maps.Copy(all, fields)
	return json.Marshal(all)
}

func fieldsOf(known any) (fields unknown, err error) {
	object, err := json.Marshal(known)
	if err != nil {
		return nil, err
	}
	return fields, json.Unmarshal(object, &fields)
}
