package system_test

import (
	"strings"
	"testing"
	"time"

	"aion/adapters/system"
	"aion/domain"
)

func TestZonesAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	var z system.Zones
	for range 2 { // the second time it is known
		zone, err := z.Zone("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		if _, offset := time.Date(2026, 7, 1, 0, 0, 0, 0, zone).Zone(); offset != 7200 {
			t.Errorf("in July it is %d s ahead of UTC", offset)
		}
	}
	if zone, err := z.Zone("UTC"); err != nil || zone != time.UTC {
		t.Errorf("%v %v", zone, err)
	}
	for _, name := range []string{"", "Local", "Mars/Base", "../zoneinfo/UTC", "/etc/localtime", "Europe", "zone.tab", strings.Repeat("x", 65), "a\x00b"} {
		if _, err := z.Zone(name); domain.TypeOf(err) != "ScheduleSpecInvalid" {
			t.Errorf("%q: %v", name, err)
		}
	}
}
