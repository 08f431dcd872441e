package datagraph

var placeBlocks = passInfo{
	Name: "place-blocks",
	Doc:  "rows of an image go to the tiles or patches of the output, without an image between",
	Run:  runPlaceBlocks,
}
