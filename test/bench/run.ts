import { parseArgs } from 'node:util';
import { benchChain } from './chain.ts';
import { benchMail } from './mail.ts';
import { benchNotify } from './notify.ts';
import { benchDownloads } from './downloads.ts';
import { benchPublish } from './publish.ts';
import { benchPush } from './push.ts';
import { benchRenderer } from './renderer.ts';
import { benchStart } from './start.ts';

/** One line of the table: what was measured, in one run, against what it should be. */
export interface Figure {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  /** The same of another program that was measured in turn. */
  readonly peer?: number | undefined;
  /** `at most` or `at least`, of what was measured or of its ratio to the peer; without it the figure is there to be read. */
  readonly goal?: { readonly at: 'most' | 'least'; readonly value: number; readonly of?: 'ratio' };
}

export interface BenchOptions {
  /** Path of a real ntfy to measure in turn. */
  readonly ntfy: string | undefined;
  /** Path of a checkout of Apprise API to measure in turn. */
  readonly appriseApi: string | undefined;
}

const benches: Readonly<Record<string, (options: BenchOptions) => Promise<readonly Figure[]>>> = {
  start: benchStart,
  chain: benchChain,
  downloads: benchDownloads,
  publish: benchPublish,
  push: benchPush,
  notify: benchNotify,
  mail: benchMail,
  renderer: benchRenderer,
};

const { positionals: asked, values } = parseArgs({
  allowPositionals: true,
  options: { ntfy: { type: 'string' }, 'apprise-api': { type: 'string' } },
});
const unknown = asked.find((name) => !Object.hasOwn(benches, name));
if (unknown !== undefined) {
  console.error(`There is no bench "${unknown}". There are: ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}
const ntfy = values.ntfy ?? process.env['HOMEPORT_NTFY_BINARY'];
const appriseApi = values['apprise-api'] ?? process.env['HOMEPORT_APPRISE_API'];
const figures: Figure[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length === 0 || asked.includes(name)) figures.push(...(await bench({ ntfy, appriseApi })));
}
printTable(figures);

/** Columns about the peer appear where something was measured of it. */
function printTable(figures: readonly Figure[]): void {
  const compared = figures.some(({ peer }) => peer !== undefined);
  const rows = figures.map((figure) => {
    const { what, measured, unit, peer, goal } = figure;
    const ratio = peer === undefined ? undefined : measured / peer;
    const judged = goal?.of === 'ratio' ? ratio : measured;
    const met = judged === undefined || goal === undefined ? '' : reaches(judged, goal) ? 'met' : 'NOT MET';
    return [
      what,
      `${inDigits(measured)} ${unit}`,
      ...(compared
        ? [peer === undefined ? '' : `${inDigits(peer)} ${unit}`, ratio === undefined ? '' : inDigits(ratio)]
        : []),
      goal === undefined ? '' : `at ${goal.at} ${goal.value} ${goal.of === 'ratio' ? 'of it' : unit}`,
      met,
    ];
  });
  const table = [['', 'measured', ...(compared ? ['beside', 'ratio'] : []), 'goal', ''], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function reaches(value: number, goal: NonNullable<Figure['goal']>): boolean {
  return goal.at === 'most' ? value <= goal.value : value >= goal.value;
}

function inDigits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(2);
}
