import { parentPort } from 'node:worker_threads';
import type { PatternAnswer } from './patterns.ts';

/** As people write them elsewhere: `/x264|x265/i`, or bare, which does not tell capitals apart. */
function expressionOf(source: string): RegExp {
  const delimited = /^\/(.+)\/([imsu]*)$/s.exec(source);
  return delimited === null ? new RegExp(source, 'i') : new RegExp(delimited[1] ?? '', delimited[2]);
}

parentPort?.on('message', ({ sources, texts }: { sources: readonly string[]; texts: readonly string[] }) => {
  const expressions: RegExp[] = [];
  let answer: PatternAnswer | undefined;
  for (const [number, source] of sources.entries()) {
    try {
      expressions.push(expressionOf(source));
    } catch {
      answer ??= { broken: number };
    }
  }
  answer ??= {
    matches: texts.map((text) => expressions.flatMap((expression, number) => (expression.test(text) ? [number] : []))),
  };
  parentPort?.postMessage(answer);
});
