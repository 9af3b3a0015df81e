package consent

func scriptedMain() {}
