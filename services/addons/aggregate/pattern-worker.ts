import { parentPort } from 'node:worker_threads';
import { matchesPattern, readPattern, type Pattern } from '../domain/pattern.ts';
import type { PatternAnswer } from './patterns.ts';

parentPort?.on('message', ({ sources, texts }: { sources: readonly string[]; texts: readonly string[] }) => {
  const expressions: Pattern[] = [];
  let answer: PatternAnswer | undefined;
  for (const [number, source] of sources.entries()) {
    try {
      expressions.push(readPattern(source));
    } catch {
      answer ??= { broken: number };
    }
  }
  answer ??= {
    matches: texts.map((text) => expressions.flatMap((expression, number) => (matchesPattern(expression, text) ? [number] : []))),
  };
  parentPort?.postMessage(answer);
});
