import type { ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';

/** Messages for pages by problem code, in place of the details that Gitea's API has for programs. */
const messages: Readonly<Record<string, string>> = {
  'git.unknown': 'There is nothing here, or nothing that you may see.',
  'git.forbidden': 'Your account may not do that with this repository.',
  'git.archived': 'This repository is archived: it can be read, and nothing in it is changed.',
  'git.protected': 'A protection of branches keeps you from that.',
};

/** Wraps a handler so that its problems carry messages for pages. */
export function withPageMessages(handler: ApiHandler): ApiHandler {
  return {
    ...handler,
    async handle(request) {
      try {
        return await handler.handle(request);
      } catch (error) {
        throw toPageProblem(error);
      }
    },
  };
}

function toPageProblem(error: unknown): unknown {
  if (!(error instanceof Problem) || error instanceof PageProblem) return error;
  const { code, status, fields, headers } = error;
  const message = Object.hasOwn(messages, code) ? messages[code] : undefined;
  return message === undefined ? error : new PageProblem(code, status, message, { cause: error, fields, headers });
}
