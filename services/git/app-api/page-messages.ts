import * as m from '#messages/git-problems';
import type { ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { GiteaProblem, PageProblem } from '../domain/page-problem.ts';

/** Messages for pages by problem code, in place of the details that Gitea's API has for programs. */
const messages: Readonly<Record<string, () => string>> = {
  'git.unknown': m.notFound,
  'git.forbidden': m.repositoryActionDenied,
  'git.archived': m.archived,
  'git.protected': m.changeProtected,
  'git.blocked': m.hasOpenDependencies,
  'git.closed': m.pullClosed,
  'git.draft': m.draftNotMergeable,
  'git.merged': m.pullMerged,
  'git.moved': m.branchMoved,
  'git.name_taken': m.ownerRepositoryExists,
  'git.not_allowed': m.mergeDenied,
  'git.own_pull': m.ownPullReview,
  'git.release_taken': m.tagHasRelease,
  'git.style': m.mergeMethodDenied,
  'git.unknown_branch': m.branchNotFound,
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
  const message = findPageMessage(error);
  // A message at a form field was written for the page.
  if (message === undefined || Object.keys(fields).length > 0) return error;
  return new PageProblem(code, status, message, { cause: error, headers });
}

function findPageMessage(error: Problem): string | undefined {
  if (error instanceof GiteaProblem) return error.pageDetail;
  return Object.hasOwn(messages, error.code) ? messages[error.code]?.() : undefined;
}
