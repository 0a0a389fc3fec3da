import type { Git } from '../engine/git.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';
import type { Repository } from './repositories.ts';

/** Author of a commit that this service creates. */
export interface Author {
  readonly name: string;
  readonly email: string;
}

/** Builds git's environment variables for author and committer. `dates` use a format that git accepts. */
export function buildAuthorEnvironment(
  author: Author,
  committer = author,
  dates: { author?: string; committer?: string } = {},
) {
  return {
    GIT_AUTHOR_NAME: toAuthorName(author.name),
    GIT_AUTHOR_EMAIL: toAuthorName(author.email),
    GIT_COMMITTER_NAME: toAuthorName(committer.name),
    GIT_COMMITTER_EMAIL: toAuthorName(committer.email),
    ...(dates.author === undefined ? {} : { GIT_AUTHOR_DATE: dates.author }),
    ...(dates.committer === undefined ? {} : { GIT_COMMITTER_DATE: dates.committer }),
  };
}

/** Creates the first commit with a README and additional files. Returns the changed reference. */
export async function createFirstCommit(
  git: Git,
  folder: string,
  { name, description, defaultBranch }: Repository,
  author: Author,
  additionalFiles: Readonly<Record<string, string>> = {},
): Promise<RefChange> {
  const text = `# ${name}\n${description === '' ? '' : `\n${description}\n`}`;
  const entries: string[] = [];
  for (const [path, content] of Object.entries({ ...additionalFiles, 'README.md': text })) {
    const blob = await runForId(git, folder, ['hash-object', '-w', '--stdin'], content);
    entries.push(`100644 blob ${blob}\t${path}\0`);
  }
  const tree = await runForId(git, folder, ['mktree', '-z'], entries.join(''));
  const { stdout } = await git.run(folder, ['commit-tree', tree], {
    input: 'Initial commit\n',
    environment: buildAuthorEnvironment(author),
  });
  const commit = stdout.toString().trim();
  const ref = `refs/heads/${defaultBranch}`;
  await git.run(folder, ['update-ref', ref, commit, zeroId]);
  return { ref, before: zeroId, after: commit };
}

async function runForId(git: Git, folder: string, args: readonly string[], input: string): Promise<string> {
  return (await git.run(folder, args, { input })).stdout.toString().trim();
}

/** Returns true if git accepts a text as an author name. Git rejects names that consist of punctuation. */
export function isAuthorName(text: string): boolean {
  return cleanName(text) !== '';
}

/** Removes the characters that git strips or rejects in a name. */
function cleanName(text: string): string {
  return text.replaceAll(/[<>\p{Cc}]/gu, '').replaceAll(/^[\s.,:;"\\']+|[\s.,:;"\\']+$/g, '');
}

function toAuthorName(text: string): string {
  const cleaned = cleanName(text);
  return cleaned === '' ? 'unknown' : cleaned;
}
