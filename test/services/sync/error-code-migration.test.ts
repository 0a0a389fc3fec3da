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

/** Stored errors, with the code and the parameters that the migration derives. */
const parameterCases: readonly { error: string; code?: string; expected: readonly [string, object] }[] = [
  {
    error: 'timed out.txt is a link at the destination, and links are left as they are',
    code: 'sync.link',
    expected: ['sync.link', { path: 'timed out.txt' }],
  },
  {
    error: 'a.txt was changed since, and others; nothing was put back.',
    code: 'sync.changed_since',
    expected: ['sync.changed_since', { path: 'a.txt', several: true }],
  },
  { error: 'One file failed; all others are done.', expected: ['sync.files_failed', { count: 1 }] },
  { error: '3 folders could not be read.', expected: ['sync.folders_unreadable', { count: 3 }] },
  { error: 'interrupted: Homeport was ended while it ran', expected: ['sync.interrupted', {}] },
  {
    error: 'It would delete 30 files; 10 are allowed. It would delete 75 % of the destination; 50 % are allowed.',
    code: 'sync.held',
    expected: [
      'sync.held',
      {
        reasons: [
          { kind: 'count', count: 30, limit: 10 },
          { kind: 'percent', percent: 75, limit: 50 },
        ],
      },
    ],
  },
  { error: 'directory not found', expected: ['', {}] },
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

  it('derives the parameters of failures and the reasons of previews from the sentences of older versions', async () => {
    const database = await open();
    await database.migrate(migrations.slice(0, 2));
    for (const [id, { error, code = '' }] of parameterCases.entries()) {
      await database.kysely
        .insertInto('run_files')
        .values({ job_id: id, seq: 0, name: 'a', what: '', size: 1, at: 1, error, error_code: code })
        .execute();
    }
    const brakes = [
      'It would delete 1 file; 0 are allowed.',
      'The source is empty, and 2 files at the destination would be deleted.',
    ];
    await database.kysely
      .insertInto('plans')
      .values({
        task_id: 1,
        created_at: 1,
        fingerprint: '',
        summary: JSON.stringify({ sourceFiles: 3, brakes }),
        body: '{}',
      })
      .execute();
    await database.migrate(migrations);
    const rows = await database.kysely.selectFrom('run_files').selectAll().orderBy('job_id').execute();
    expect(rows.map((row) => [row['error_code'], JSON.parse(String(row['error_parameters']))])).toEqual(
      parameterCases.map(({ expected }) => expected),
    );
    const plan = await database.kysely.selectFrom('plans').select('summary').executeTakeFirstOrThrow();
    expect(JSON.parse(String(plan['summary']))).toEqual({
      sourceFiles: 3,
      approvalReasons: [
        { kind: 'count', count: 1, limit: 0 },
        { kind: 'empty_source', count: 2 },
      ],
    });
  });
});
