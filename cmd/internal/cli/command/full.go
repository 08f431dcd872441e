package command

// FullProgram is the program with every part: the stores of the clouds and of
// HDFS, and jpegli. Its module has the dependencies that infer-prep does
// without.
const FullProgram = "infer-prep-full"

// InFull ends the error of a part that infer-prep does without. The end is
// empty in FullProgram itself.
func InFull(part string) string {
	if Program == FullProgram {
		return ""
	}
	return "; the program " + FullProgram + " has " + part + ": in a clone, go install -C cmd/" + FullProgram + " ."
}
