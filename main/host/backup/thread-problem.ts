import { languages } from '../../../messages/generated/languages.ts';
import { getLanguage, sourceLanguage, withLanguage } from '../../../messages/language.ts';
import { loadLanguage } from '../../../messages/runtime.ts';
import { Problem } from '../../../services/contracts/problem.ts';

/** Problem in a form that can be sent between threads. */
export interface ThreadProblem extends Pick<Problem, 'code' | 'status' | 'retryable' | 'cause'> {
  /** Sentence by language: the thread does not know who reads it, and a function cannot be sent. */
  readonly texts: Readonly<Record<string, string>>;
}

/** @throws any error that is not a Problem. */
export async function problemForThread(error: unknown): Promise<ThreadProblem> {
  if (!(error instanceof Problem)) throw error;
  const { code, status, retryable, cause } = error;
  await Promise.all(languages.map(loadLanguage));
  const texts = languages.map((language) => [language, withLanguage(language, () => error.detail)]);
  return { code, status, texts: Object.fromEntries(texts) as Record<string, string>, retryable, cause };
}

/** Restores a Problem of another thread. Each reader gets its sentence in their language. */
export function problemFromThread({ code, status, texts, ...options }: ThreadProblem): Problem {
  return new Problem(code, status, () => texts[getLanguage()] ?? texts[sourceLanguage] ?? code, options);
}
