import { escapeLabelValue } from '../../../services/kit/escape-label-value.ts';

/** Metric with its samples, as read from a registry. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** Differs from the family's name for `_bucket`, `_sum` and `_count` of a histogram. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Formats Prometheus text, sent as `text/plain; version=0.0.4; charset=utf-8`. Families with the same name are merged
 * under the help of the first.
 */
export function metricsPage(families: readonly Family[]): string {
  const byName = new Map<string, Family[]>();
  for (const family of families) {
    const same = byName.get(family.name);
    if (same === undefined) byName.set(family.name, [family]);
    else same.push(family);
  }
  let page = '';
  for (const [name, same] of [...byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const first = same[0];
    if (first === undefined) continue;
    page += `# HELP ${name} ${escapeHelp(first.help)}\n# TYPE ${name} ${first.type}\n`;
    for (const family of same) for (const sample of family.samples) page += sampleLine(sample);
  }
  return page;
}

function sampleLine(sample: Sample): string {
  const labels = Object.entries(sample.labels).map(([name, value]) => `${name}="${escapeLabelValue(String(value))}"`);
  const set = labels.length === 0 ? '' : `{${labels.join(',')}}`;
  return `${sample.name}${set} ${numberText(sample.value)}\n`;
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (character) => (character === '\n' ? '\\n' : '\\\\'));
}
