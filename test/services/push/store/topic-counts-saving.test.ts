import { expect, it } from 'vitest';
import type { Envelope } from '../../../../services/push/messages/envelope.ts';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { TopicCounts } from '../../../../services/push/topics/topic-counts.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { eachDialect } from '../../../support/database.ts';

eachDialect((_dialect, open) => {
  it('counts every message once while counts are saved, also when the save fails', async () => {
    const database = await open();
    await database.migrate(migrations);
    const clock = createFakeClock(new Date(2026, 9, 24, 13).getTime());
    let hold = Promise.withResolvers<void>();
    const counts = new TopicCounts({
      clock,
      db: database.kysely,
      reads: database.kysely,
      commit: async (work) => {
        await hold.promise;
        return database.commit(work);
      },
    });
    await counts.resume();
    const message = { id: 'a', event: 'message', topic: 'news', time: clock.now() / 1000 };
    counts.add([{ message, seq: 1 } as unknown as Envelope]);
    const read = async (): Promise<readonly number[]> => [
      await counts.today(),
      (await counts.readHours()).reduce((sum, { published }) => sum + published, 0),
    ];
    const failing = counts.save();
    const during = read();
    hold.reject(new Error('the disk is full'));
    await expect(failing).rejects.toThrow('the disk is full');
    expect(await during).toEqual([1, 1]);
    hold = Promise.withResolvers();
    const saving = counts.save();
    const reading = read();
    hold.resolve();
    await saving;
    expect(await reading).toEqual([1, 1]);
    expect(await read()).toEqual([1, 1]);
  });
});
