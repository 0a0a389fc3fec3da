import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { isPresent } from './requirements.ts';
import type { TestFile } from './test-suites.ts';

const maxSlowFiles = 10;

/** Formats what is missing with the number of files that need it, the most frequent first. */
function formatMissing(files: readonly TestFile[]): string {
  const missing = files.flatMap(({ needs }) => needs.filter((name) => !isPresent(name)));
  return [...Map.groupBy(missing, (name) => name)]
    .map(([name, { length }]) => ({ name, length }))
    .toSorted((a, b) => b.length - a.length)
    .map(({ name, length }) => `${name} (${length})`)
    .join(', ');
}

/** Prints at the end of a run the slowest files and what was left out, with the command that runs it. */
export class LeftOutReporter implements Reporter {
  readonly #leftOut: readonly TestFile[];
  readonly #heavyCount: number;

  /** @param heavyCount Number of files of the suite of real clients, as far as they can run on this computer. */
  constructor(leftOut: readonly TestFile[], heavyCount: number) {
    this.#leftOut = leftOut;
    this.#heavyCount = heavyCount;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines: string[] = [];
    if (modules.length > maxSlowFiles) {
      lines.push('Slowest test files:');
      const slowest = modules.toSorted((a, b) => b.diagnostic().duration - a.diagnostic().duration);
      for (const each of slowest.slice(0, maxSlowFiles)) {
        const seconds = (each.diagnostic().duration / 1000).toFixed(1).padStart(7);
        lines.push(`${seconds} s  ${relative('.', each.moduleId)}`);
      }
    }
    const skipped = modules.flatMap((each) => [...each.children.allTests('skipped')]).length;
    const projects = new Set(modules.map(({ project }) => project.name));
    if (projects.has('parts') && !projects.has('heavy') && this.#heavyCount > 0)
      lines.push(
        `Left out: ${this.#heavyCount} files with real clients, browsers and whole programs. Run them with: npm run test:clients`,
      );
    if (this.#leftOut.length > 0)
      lines.push(
        `Left out: ${this.#leftOut.length} files that need programs which are missing here: ` +
          `${formatMissing(this.#leftOut)}. npm run test:clients installs what it can.`,
      );
    if (skipped > 0) lines.push(`Skipped: ${skipped} tests that need a program or a right which is missing here.`);
    if (lines.length > 0) console.log(`\n${lines.join('\n')}`);
  }
}
