module trellis/upstream/pause

go 1.26.8
