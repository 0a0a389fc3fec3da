import { parseArgs } from 'node:util';
import { benchAddons } from './addons.ts';
import { benchChain } from './chain.ts';
import { benchData } from './data.ts';
import { benchGateway } from './gateway.ts';
import { benchGit } from './git.ts';
import { benchMail } from './mail.ts';
import { benchNotify } from './notify.ts';
import { benchDownloads } from './downloads.ts';
import { benchPalette } from './palette.ts';
import { benchPublish } from './publish.ts';
import { benchPush } from './push.ts';
import { benchRenderer } from './renderer.ts';
import { benchStart } from './start.ts';
import { benchSync } from './sync.ts';
import { benchUptime } from './uptime.ts';

/** Row of the table: a measurement and its target in the same run. */
export interface Figure {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  /** The same measurement of a peer. */
  readonly peer?: number | undefined;
  /** Limit of the measurement or of its ratio to the peer; without it, the value is only printed. */
  readonly goal?: { readonly at: 'most' | 'least'; readonly value: number; readonly of?: 'ratio' };
}

export interface BenchOptions {
  /** Path of a real ntfy to measure in turn. */
  readonly ntfy: string | undefined;
  /** Path of a checkout of Apprise API to measure in turn. */
  readonly appriseApi: string | undefined;
  /**
   * Fewer and smaller rounds, so that a benchmark takes less than three minutes. Use it for orientation, not for
   * decisions.
   */
  readonly quick: boolean;
  /** Prints figures as soon as they are measured. */
  readonly print: (...figures: readonly Figure[]) => void;
}

const benches: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  start: benchStart,
  chain: benchChain,
  downloads: benchDownloads,
  publish: benchPublish,
  push: benchPush,
  notify: benchNotify,
  mail: benchMail,
  uptime: benchUptime,
  renderer: benchRenderer,
  palette: benchPalette,
  addons: benchAddons,
  gateway: benchGateway,
  git: benchGit,
  sync: benchSync,
  data: benchData,
};

const { positionals: asked, values } = parseArgs({
  allowPositionals: true,
  options: { ntfy: { type: 'string' }, 'apprise-api': { type: 'string' }, quick: { type: 'boolean', default: false } },
});
const unknown = asked.find((name) => !Object.hasOwn(benches, name));
if (unknown !== undefined) {
  console.error(`There is no bench "${unknown}". There are: ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}
const { quick } = values;
const ntfy = values.ntfy ?? process.env['HOMEPORT_NTFY_BINARY'];
const appriseApi = values['apprise-api'] ?? process.env['HOMEPORT_APPRISE_API'];
const widths = [76, 14, 14, 6, 22, 0];
printRow([quick ? 'QUICK: fewer rounds of less' : '', 'measured', 'beside', 'ratio', 'goal', '']);
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  await bench({ ntfy, appriseApi, quick, print: (...figures) => figures.forEach(printFigure) });
}

function printFigure({ what, measured, unit, peer, goal }: Figure): void {
  const ratio = peer === undefined ? undefined : measured / peer;
  const comparedValue = goal?.of === 'ratio' ? ratio : measured;
  printRow([
    what,
    `${inDigits(measured)} ${unit}`,
    peer === undefined ? '' : `${inDigits(peer)} ${unit}`,
    ratio === undefined ? '' : inDigits(ratio),
    goal === undefined ? '' : `at ${goal.at} ${goal.value} ${goal.of === 'ratio' ? 'of it' : unit}`,
    comparedValue === undefined || goal === undefined ? '' : reaches(comparedValue, goal) ? 'met' : 'NOT MET',
  ]);
}

/** Formats a row of the table with fixed column widths, since later rows are not known yet. */
function printRow(cells: readonly string[]): void {
  console.log(
    cells
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
