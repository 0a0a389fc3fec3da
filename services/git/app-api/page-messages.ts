import type { ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';

/** Refusals that the peer's API says for programs, by their code, as the pages say them to a person. */
const sentences: Readonly<Record<string, string>> = {
  'git.unknown': 'There is nothing here, or nothing that you may see.',
  'git.forbidden': 'Your account may not do that with this repository.',
  'git.archived': 'This repository is archived: it can be read, and nothing in it is changed.',
  'git.protected': 'A protection of branches keeps you from that.',
};

/** The same handler, with refusals in words for people. */
export function inWords(handler: ApiHandler): ApiHandler {
  return {
    ...handler,
    async handle(request) {
      try {
        return await handler.handle(request);
      } catch (error) {
        throw spoken(error);
      }
    },
  };
}

function spoken(error: unknown): unknown {
  if (!(error instanceof Problem) || isSentence(error.detail)) return error;
  const sentence = Object.hasOwn(sentences, error.code) ? sentences[error.code] : undefined;
  return sentence === undefined
    ? error
    : new Problem(error.code, error.status, sentence, { cause: error, fields: error.fields, headers: error.headers });
}

/** The peer's have no capital letter, or no full stop. */
function isSentence(text: string): boolean {
  return /^\p{Lu}.*\.$/su.test(text);
}
