import { describe, expect, it } from 'vitest';
import { drawIdenticon } from '../../renderer/src/parts/text/identicon.ts';
import { buildHeatmap, heatmapWeeks } from '../../renderer/src/pages/git/activity/heatmap-days.ts';
import { searchFiles } from '../../renderer/src/pages/git/files/file-search.ts';

describe('search of files', () => {
  const paths = ['docs/lamp.md', 'src/lamp.ts', 'src/lamp.test.ts', 'src/long/amp/list.ts', 'lamp'];

  it('lists matching names before matching folders and scattered characters', () => {
    expect(searchFiles(paths, 'lamp')).toEqual([
      ...['lamp', 'src/lamp.ts', 'docs/lamp.md', 'src/lamp.test.ts', 'src/long/amp/list.ts'],
    ]);
    expect(searchFiles(paths, 'src lts')[0]).toBe('src/lamp.ts');
  });

  it('finds nothing when a character is missing', () => {
    expect(searchFiles(paths, 'lampz')).toEqual([]);
  });
});

describe('heatmap', () => {
  const now = new Date(2026, 10, 29, 12).getTime();

  it('ends today and counts contributions by local day', () => {
    const parts = [
      { time: new Date(2026, 10, 29, 0, 15).getTime(), count: 2 },
      { time: new Date(2026, 10, 29, 11, 45).getTime(), count: 6 },
      { time: new Date(2026, 10, 28, 23, 45).getTime(), count: 1 },
    ];
    const weeks = buildHeatmap(parts, now, 1);
    const days = weeks.flat();
    expect(weeks).toHaveLength(heatmapWeeks);
    expect(days.at(-1)).toEqual({ time: new Date(2026, 10, 29).getTime(), count: 8, level: 4 });
    expect(days.at(-2)).toMatchObject({ count: 1, level: 1 });
    expect(days.at(-3)).toMatchObject({ count: 0, level: 0 });
  });

  it('begins each week with the same weekday', () => {
    const weeks = buildHeatmap([], now, 1);
    expect(new Set(weeks.map(([first]) => new Date(first?.time ?? 0).getDay()))).toEqual(new Set([1]));
    // The 29th of November 2026 is a Sunday, the first day of a week that begins with it.
    expect(buildHeatmap([], now, 0).at(-1)).toHaveLength(1);
  });
});

describe('identicon', () => {
  it('is the same for each spelling of a name, symmetrical, and different for other names', () => {
    const { cells } = drawIdenticon('ada');
    expect(drawIdenticon('Ada')).toEqual(drawIdenticon('ada'));
    for (const { x, y } of cells) expect(cells).toContainEqual({ x: 4 - x, y });
    expect(drawIdenticon('ben')).not.toEqual(drawIdenticon('ada'));
  });
});
