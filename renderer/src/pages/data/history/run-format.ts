import * as m from '#messages/data-sql';
import { defineNumberFormat } from '../../../../../messages/format.ts';
import { formatDuration } from '../../../parts/text/format.ts';

const defineSecondsFormat = (digits: number) =>
  defineNumberFormat({ minimumFractionDigits: digits, maximumFractionDigits: digits });
const [formatTenths, formatHundredths, formatThousandths] = [
  defineSecondsFormat(1),
  defineSecondsFormat(2),
  defineSecondsFormat(3),
];

/** Formats the duration of statements: `0.008 s`, `1.2 s`, `2:05`. */
export function formatRunTime(ms: number): string {
  if (ms >= 60_000) return formatDuration(ms / 1000);
  const format = ms < 100 ? formatThousandths : ms < 1000 ? formatHundredths : formatTenths;
  return m.seconds({ seconds: format(ms / 1000) });
}

const formatMilliseconds = defineNumberFormat({ maximumSignificantDigits: 2 });

/** Formats the duration of a step of a plan, which is often shorter than a millisecond: `0.043 ms`, `1.2 s`. */
export function formatStepTime(ms: number): string {
  return ms < 100 ? m.milliseconds({ value: formatMilliseconds(ms) }) : formatRunTime(ms);
}

const resultLabels: Readonly<Record<string, (values: { count: number }) => string>> = {
  SELECT: m.rowsRead,
  INSERT: m.rowsAdded,
  UPDATE: m.rowsChanged,
  DELETE: m.rowsRemoved,
  MERGE: m.rowsChanged,
};

/** Formats the result of a command: `12 rows`, `1 row changed`; commands without rows by their PostgreSQL name. */
export function formatCommandResult(command: string, count: number): string {
  return resultLabels[command]?.({ count }) ?? command;
}
