export type MetricKind = 'counter' | 'gauge' | 'histogram';

/** Units that `promtool check metrics` rejects; base units are seconds and bytes. */
const otherUnits = new Map([
  ...['minutes', 'hours', 'days', 'weeks'].map((unit) => [unit, 'seconds'] as const),
  ...['bits', 'kelvin', 'fahrenheit', 'miles', 'inches', 'pounds', 'calories', 'percent'].map(
    (unit) => [unit, 'the base unit'] as const,
  ),
]);
const prefixes =
  'pico nano micro milli centi deci deca hecto kilo kibi mega mibi mebi giga gibi tera tebi peta pebi'.split(' ');
const baseUnits = 'seconds meters grams joules bytes amperes volts hertz'.split(' ');
const abbreviations = new Set('s ms us ns sec b kb mb gb tb pb m h d'.split(' '));

/**
 * Returns the complaint of `promtool check metrics`, or undefined. Checked at the declaration, so that the first
 * start detects a name that violates the conventions.
 */
export function findNameProblem(
  kind: MetricKind,
  name: string,
  help: string,
  labels: readonly string[],
): string | undefined {
  if (help.trim() === '') return 'needs a help text';
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return 'must be snake case: a-z, 0-9 and _';
  for (const label of labels) {
    if (!/^[a-z][a-z0-9_]*$/.test(label)) return `has the label "${label}", which is not snake case`;
    if (label === 'le' || label === 'quantile')
      return `has the label "${label}", which belongs to histograms and summaries`;
    if (label === 'service') return 'has the label "service", which the joined page adds itself';
  }
  return findSuffixProblem(kind, name) ?? findWordProblem(kind, name);
}

function findSuffixProblem(kind: MetricKind, name: string): string | undefined {
  if (kind === 'counter' && !name.endsWith('_total')) return 'is a counter, so it must end in _total';
  if (kind !== 'counter' && name.endsWith('_total')) return 'is no counter, so it must not end in _total';
  const reserved = ['_count', '_sum', '_bucket'].find((suffix) => name.endsWith(suffix));
  return reserved === undefined ? undefined : `must not end in ${reserved}, which belongs to histograms`;
}

function findWordProblem(kind: MetricKind, name: string): string | undefined {
  const parts = name.split('_');
  if (parts.includes(kind) || ['counter', 'gauge', 'histogram', 'summary'].includes(parts.at(-1) ?? ''))
    return 'must not tell its type in its name';
  for (const part of parts) {
    if (abbreviations.has(part)) return `has the abbreviated unit "${part}"`;
    const other = otherUnits.get(part);
    if (other !== undefined) return `must use ${other} in place of ${part}`;
    const unit = baseUnits.find((base) => part.endsWith(base) && prefixes.includes(part.slice(0, -base.length)));
    if (unit !== undefined) return `must use ${unit} in place of ${part}`;
  }
  return undefined;
}
