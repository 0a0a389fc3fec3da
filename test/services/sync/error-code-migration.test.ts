import { expect, it } from 'vitest';
import { migrations } from '../../../services/sync/store/migrations.ts';
import { eachDialect } from '../../support/database.ts';

const codes: readonly (readonly [string, string])[] = [
  ['timed out.txt is a link at the destination, and links are left as they are', 'sync.link'],
  ['a.txt was changed since, and others; nothing was put back.', 'sync.changed_since'],
  ['The source became empty; nothing was deleted.', 'sync.source_emptied'],
  ['an internal error', 'sync.internal'],
  ['failed', 'sync.unstated'],
  ['directory not found', ''],
];

eachDialect((_name, open) => {
  it('derives the codes of errors that older versions stored as text', async () => {
    const database = await open();
    await database.migrate(migrations.slice(0, 1));
    for (const [id, [error]] of codes.entries()) {
      await database.kysely
        .insertInto('runs')
        .values({
          ...{ id, kind: 'run', account: 'ada', group_name: `job/${id}`, input: '{}', source: '', destination: '' },
          ...{
            state: 'failed',
            started_at: 1,
            ended_at: 2,
            error,
            output: '{}',
            stats: '{}',
            speeds: '{}',
            attempt: 1,
          },
        })
        .execute();
      await database.kysely
        .insertInto('run_files')
        .values({ job_id: id, seq: 0, name: 'a', what: '', size: 1, at: 1, error })
        .execute();
    }
    await database.migrate(migrations);
    const runs = await database.kysely.selectFrom('runs').select('error_code').orderBy('id').execute();
    const files = await database.kysely.selectFrom('run_files').select('error_code').orderBy('job_id').execute();
    expect(runs.map((row) => row['error_code'])).toEqual(codes.map(([, code]) => code));
    expect(files.map((row) => row['error_code'])).toEqual(codes.map(([, code]) => code));
  });
});
