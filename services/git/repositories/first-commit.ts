import type { Git } from '../engine/git.ts';
import { noObject, type RefChange } from '../transfer/push-request.ts';
import type { Repository } from './repositories.ts';

/** Author of a commit that this service creates. */
export interface Author {
  readonly name: string;
  readonly email: string;
}

/** Builds git's environment variables for author and committer. `dates` use a format that git accepts. */
export function authorship(author: Author, committer = author, dates: { author?: string; committer?: string } = {}) {
  return {
    GIT_AUTHOR_NAME: plain(author.name),
    GIT_AUTHOR_EMAIL: plain(author.email),
    GIT_COMMITTER_NAME: plain(committer.name),
    GIT_COMMITTER_EMAIL: plain(committer.email),
    ...(dates.author === undefined ? {} : { GIT_AUTHOR_DATE: dates.author }),
    ...(dates.committer === undefined ? {} : { GIT_COMMITTER_DATE: dates.committer }),
  };
}

/** Creates the first commit with a README and additional files. Returns the changed reference. */
export async function firstCommit(
  git: Git,
  folder: string,
  { name, description, defaultBranch }: Repository,
  author: Author,
  further: Readonly<Record<string, string>> = {},
): Promise<RefChange> {
  const text = `# ${name}\n${description === '' ? '' : `\n${description}\n`}`;
  const entries: string[] = [];
  for (const [path, content] of Object.entries({ ...further, 'README.md': text })) {
    const blob = await idOf(git, folder, ['hash-object', '-w', '--stdin'], content);
    entries.push(`100644 blob ${blob}\t${path}\0`);
  }
  const tree = await idOf(git, folder, ['mktree', '-z'], entries.join(''));
  const { stdout } = await git.run(folder, ['commit-tree', tree], {
    input: 'Initial commit\n',
    environment: authorship(author),
  });
  const commit = stdout.toString().trim();
  const ref = `refs/heads/${defaultBranch}`;
  await git.run(folder, ['update-ref', ref, commit, noObject]);
  return { ref, before: noObject, after: commit };
}

async function idOf(git: Git, folder: string, args: readonly string[], input: string): Promise<string> {
  return (await git.run(folder, args, { input })).stdout.toString().trim();
}

/** Returns true if git accepts a text as an author name. Git rejects names that consist of punctuation. */
export function isAuthorName(text: string): boolean {
  return usableName(text) !== '';
}

/** Removes the characters that git strips or rejects in a name. */
function usableName(text: string): string {
  return text.replaceAll(/[<>\p{Cc}]/gu, '').replaceAll(/^[\s.,:;"\\']+|[\s.,:;"\\']+$/g, '');
}

function plain(text: string): string {
  const usable = usableName(text);
  return usable === '' ? 'unknown' : usable;
}
