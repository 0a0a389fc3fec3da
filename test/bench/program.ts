import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Running program of the load. Disposal closes its input, which ends the program. */
export interface Spoken extends AsyncDisposable {
  /** Reads the next line of the output. @throws Error with the error output if the program ended. */
  line(): Promise<string>;
  print(line: string): void;
}

/** Builds `NAME.c` of this folder into another one. @throws Error without a C compiler. */
export function buildProgram(folder: string, name: string): (...words: readonly (string | number)[]) => Spoken {
  const program = join(folder, name);
  const source = fileURLToPath(new URL(`${name}.c`, import.meta.url));
  const { status, stderr } = spawnSync('gcc', ['-O2', '-o', program, source], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the load could not be built: ${stderr}`);

  return (...words) => {
    const child = spawn(program, words.map(String), { stdio: ['pipe', 'pipe', 'pipe'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const errors: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
    return {
      async line() {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`the load ended: ${errors.join('')}`);
        return String(value);
      },
      print: (line) => void child.stdin.write(`${line}\n`),
      async [Symbol.asyncDispose]() {
        if (child.exitCode !== null) return;
        const ended = once(child, 'exit');
        child.stdin.end();
        await ended;
      },
    };
  };
}
