import { expect, it } from 'vitest';
import { createPortable } from '../../../../services/push/import/portable.ts';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { RecurringStore } from '../../../../services/push/store/recurring.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { eachDialect } from '../../../support/database.ts';

const hourMs = 3_600_000;

eachDialect((_dialect, open) => {
  const openPortable = async () => {
    const database = await open();
    await database.migrate(migrations);
    const clock = createFakeClock();
    return {
      clock,
      recurring: new RecurringStore(database.kysely),
      portable: createPortable({ clock, commit: database.commit, db: database.kysely }),
    };
  };
  const schedule = (id: string, clock: { now(): number }) => ({
    id,
    account: 'ada',
    topic: 't',
    title: 'T',
    message: 'm',
    priority: 4,
    tags: ['a'],
    markdown: true,
    ...{ click: 'https://x.example/', rule: '0 8 * * *', zone: 'UTC', starts: null, ends: clock.now() + 48 * hourMs },
    missed: 'skip',
    enabled: true,
  });

  it('exports schedules and rules to another host, where they continue', async () => {
    const first = await openPortable();
    const data = {
      schedules: Array.from({ length: 600 }, (_, index) => schedule(`s${String(index)}`, first.clock)),
      retention: [
        { topic: 'a', seconds: 0, most: null },
        { topic: 'b-*', seconds: null, most: 5 },
      ],
    };
    await first.portable.import(data);
    const exported = await first.portable.export({ secrets: false });
    expect(exported).toEqual(data);
    const second = await openPortable();
    second.clock.advance(9 * hourMs);
    await second.portable.import({ schedules: [schedule('old', second.clock)] });
    await second.portable.import(exported);
    expect(await second.portable.export({ secrets: false })).toEqual(data);
    expect(await second.recurring.count()).toBe(600);
    expect(await second.recurring.nextTime()).toBe((first.clock.now() + 32 * hourMs) / 1000);
  });

  it('reports invalid data and changes nothing', async () => {
    const { portable, clock } = await openPortable();
    await portable.import({ schedules: [schedule('kept', clock)] });
    const wrong = { schedules: [{ ...schedule('x', clock), topic: 'no spaces' }] };
    await expect(portable.import(wrong)).rejects.toMatchObject({ fields: { 'schedules.0.topic': expect.any(String) } });
    await expect(portable.import({ schedules: [{ ...schedule('x', clock), rule: 'x' }] })).rejects.toMatchObject({
      fields: { rule: expect.any(String) },
    });
    expect(await portable.export({ secrets: true })).toMatchObject({ schedules: [{ id: 'kept' }], retention: [] });
  });
});
