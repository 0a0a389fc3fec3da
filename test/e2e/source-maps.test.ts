import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { toSourcePosition } from '../../main/host/log/source-positions.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = join(root, 'dist', 'host');
const throwing = /throw new (?:Problem|Error)\((["'][\w. ]{8,}["'])/;

/** Returns the statements of the built program that throw an error with a constant code or message. */
function findThrows(): readonly { readonly frame: string; readonly text: string }[] {
  return readdirSync(build)
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) =>
      readFileSync(join(build, name), 'utf8')
        .split('\n')
        .flatMap((line, index) => {
          const match = throwing.exec(line);
          if (match === null) return [];
          const position = `${pathToFileURL(join(build, name)).href}:${String(index + 1)}:${String(match.index + 7)}`;
          return [{ frame: `at work (${position})`, text: match[1]?.slice(1, -1) ?? '' }];
        }),
    );
}

describe('source maps of the built program', () => {
  it('leads from every thrown error to the line of the source that throws it', () => {
    const wrong: string[] = [];
    let checked = 0;
    for (const { frame, text } of findThrows()) {
      const [, path = '', line] = /\(((?:main|services)\/[^:]+\.ts):(\d+):\d+\)/.exec(toSourcePosition(frame)) ?? [];
      // Packages are built without their sources.
      if (path === '') continue;
      checked += 1;
      const lines = readFileSync(join(root, path), 'utf8').split('\n');
      const around = lines.slice(Number(line) - 1, Number(line) + 2).join('\n');
      if (!around.includes(text)) wrong.push(`${frame} -> ${path}:${String(line)}, without ${text}`);
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(200);
  });
});
