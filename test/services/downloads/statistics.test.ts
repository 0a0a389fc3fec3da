import { expect, it } from 'vitest';
import { getLastDays } from '../../../services/kit/local-days.ts';
import { migrations } from '../../../services/downloads/migrations.ts';
import { readStatistics } from '../../../services/downloads/store/statistics.ts';
import { eachDialect } from '../../support/database.ts';

const now = new Date(2026, 10, 20, 15).getTime();

eachDialect((_name, open) => {
  it('counts the days and the same number of days before, with sites of the former only', async () => {
    const database = await open();
    await database.migrate(migrations);
    const request = JSON.stringify({ type: 'video', quality: 'best', format: 'any', folder: null, prefix: '' });
    const days = getLastDays(now, 4);
    const [dayBefore, previousDay, yesterday, today] = days.map(({ from }) => from);
    const rows = [
      ['finished', 100, (dayBefore ?? 0) - 1, 'too-old'],
      ['finished', 200, dayBefore, 'earlier'],
      ['failed', null, previousDay, 'earlier'],
      ['finished', 300, (yesterday ?? 0) - 1, 'earlier'],
      ['finished', 400, yesterday, 'recent'],
      ['finished', 500, today, 'recent'],
    ] as const;
    await database.kysely
      .insertInto('downloads')
      .values(
        rows.map(([state, size, finishedAt, site], index) => ({
          ...{ uid: `d${String(index)}`, position: index, url: `https://${site}/x`, request, state, title: 'x' },
          ...{ search: 'x', video_id: 'x', probed: 1, attempts: 1, added_ns: String(index), created_at: 1 },
          ...{ size, finished_at: finishedAt },
        })),
      )
      .execute();
    expect(await readStatistics(database.kysely, days)).toMatchObject({
      days: [
        { day: '2026-11-19', files: 1, failed: 0, bytes: 400 },
        { day: '2026-11-20', files: 1, failed: 0, bytes: 500 },
      ],
      previous: [
        { files: 1, failed: 0, bytes: 200 },
        { files: 1, failed: 1, bytes: 300 },
      ],
      sites: [{ site: 'recent', files: 2, bytes: 900 }],
    });
  });
});
