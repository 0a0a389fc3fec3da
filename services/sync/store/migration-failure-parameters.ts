import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { ApprovalReason } from '../domain/delete-limits.ts';

/** Failure that an English sentence of an older version states. */
interface ParsedFailure {
  readonly code: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

type SentenceRule = readonly [pattern: RegExp, parse: (groups: Readonly<Record<string, string>>) => ParsedFailure];

/** Sentences of older versions, which stored no parameters. */
const rules: readonly SentenceRule[] = [
  [
    /^(?<path>[^]+) is a link at the destination, and links are left as they are$/,
    ({ path }) => ({ code: 'sync.link', parameters: { path } }),
  ],
  [
    /^(?<path>[^]+?) was changed since(?<others>, and others)?; nothing was put back\.$/,
    ({ path, others }) => ({ code: 'sync.changed_since', parameters: { path, several: others !== undefined } }),
  ],
  [
    /^(?:One file|(?<count>\d+) files) failed; all others are done\.$/,
    ({ count }) => ({ code: 'sync.files_failed', parameters: { count: Number(count ?? 1) } }),
  ],
  [
    /^(?<count>\d+) folders could not be read\.$/,
    ({ count }) => ({ code: 'sync.folders_unreadable', parameters: { count: Number(count) } }),
  ],
  [/^interrupted: Homeport was ended while it ran$/, () => ({ code: 'sync.interrupted', parameters: {} })],
];

/** Reasons why a run needs approval, in the words of older versions. */
const reasonPattern =
  /The source is empty, and (?<all>\d+) files? at the destination would be deleted\.|It would delete (?<count>\d+) files?; (?<limit>\d+) are allowed\.|It would delete (?<percent>\d+) % of the destination; (?<percentLimit>\d+) % are allowed\./g;

function parseReasons(sentences: string): readonly ApprovalReason[] {
  return [...sentences.matchAll(reasonPattern)].map(({ groups = {} }): ApprovalReason => {
    const { all, count, limit, percent, percentLimit } = groups;
    if (all !== undefined) return { kind: 'empty_source', count: Number(all) };
    if (count !== undefined) return { kind: 'count', count: Number(count), limit: Number(limit) };
    return { kind: 'percent', percent: Number(percent), limit: Number(percentLimit) };
  });
}

function parseFailure(error: string, code: string): ParsedFailure | undefined {
  if (code === 'sync.held') {
    const reasons = parseReasons(error);
    return reasons.length === 0 ? undefined : { code, parameters: { reasons } };
  }
  for (const [pattern, parse] of rules) {
    const match = pattern.exec(error);
    if (match !== null) return parse(match.groups ?? {});
  }
  return undefined;
}

/** Stores the parameters of failures and the reasons of previews, so that pages show them in the language of the reader. */
export const failureParameters: Migration = {
  name: '003-failure-parameters',
  async up(db) {
    for (const table of ['runs', 'run_files'] as const) {
      await db.schema
        .alterTable(table)
        .addColumn('error_parameters', 'text', (column) => column.notNull().defaultTo('{}'))
        .execute();
      await convertErrors(db, table);
    }
    await convertPlans(db);
  },
};

async function convertErrors(db: Kysely<any>, table: 'runs' | 'run_files'): Promise<void> {
  const rows = await db.selectFrom(table).select(['error', 'error_code']).distinct().where('error', '!=', '').execute();
  for (const { error, error_code: oldCode } of rows as readonly { error: string; error_code: string }[]) {
    const failure = parseFailure(error, oldCode);
    if (failure === undefined) continue;
    await db
      .updateTable(table)
      .set({ error_code: failure.code, error_parameters: JSON.stringify(failure.parameters) })
      .where('error', '=', error)
      .where('error_code', '=', oldCode)
      .execute();
  }
}

async function convertPlans(db: Kysely<any>): Promise<void> {
  const rows = await db.selectFrom('plans').select(['id', 'summary']).execute();
  for (const { id, summary } of rows as readonly { id: number; summary: string }[]) {
    const { brakes = [], ...rest } = JSON.parse(summary) as { readonly brakes?: readonly string[] };
    const converted = { ...rest, approvalReasons: brakes.flatMap(parseReasons) };
    await db
      .updateTable('plans')
      .set({ summary: JSON.stringify(converted) })
      .where('id', '=', id)
      .execute();
  }
}
