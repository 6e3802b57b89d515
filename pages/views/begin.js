// The last script of a page.
lanewise.begin();
