import { benchChain } from './chain.ts';
import { benchPublish } from './publish.ts';
import { benchRenderer } from './renderer.ts';
import { benchStart } from './start.ts';

/** One line of the table: what was measured, in one run, against what it should be. */
export interface Figure {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  /** `at most` or `at least`; without it the figure is there to be read. */
  readonly goal?: { readonly at: 'most' | 'least'; readonly value: number };
}

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  start: benchStart,
  chain: benchChain,
  publish: benchPublish,
  renderer: benchRenderer,
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(benches, name));
if (unknown !== undefined) {
  console.error(`There is no bench "${unknown}". There are: ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}
const rows: string[][] = [['', 'measured', 'goal', '']];
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  for (const { what, measured, unit, goal } of await bench()) {
    const met = goal === undefined || (goal.at === 'most' ? measured <= goal.value : measured >= goal.value);
    rows.push([
      what,
      `${measured >= 100 ? Math.round(measured) : measured.toFixed(2)} ${unit}`,
      goal === undefined ? '' : `at ${goal.at} ${goal.value} ${unit}`,
      goal === undefined ? '' : met ? 'met' : 'NOT MET',
    ]);
  }
}
const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
for (const row of rows)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
