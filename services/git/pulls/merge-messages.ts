import type { Commit } from '../repositories/commits.ts';

/** Data for the default message of a merge. */
export interface MergeSubject {
  readonly title: string;
  readonly number: number;
  /** Branch such as `dev`, or `owner/name:dev` of another repository. */
  readonly from: string;
  readonly into: string;
}

/** Builds the default message of a merge commit as Gitea does. */
export function buildMergeMessage({ title, number, from, into }: MergeSubject): string {
  return `Merge pull request '${title}' (#${number}) from ${from} into ${into}`;
}

/** Builds the default message of a squash commit: the messages of the commits and their authors as co-authors. */
export function buildSquashMessage(
  { title, number }: MergeSubject,
  commits: readonly Commit[],
  author: { readonly email: string },
): string {
  const coAuthors = new Map(
    commits.map(({ author: { name, email } }) => [email, `Co-authored-by: ${name} <${email}>`]),
  );
  coAuthors.delete(author.email);
  const messages = commits.length < 2 ? '' : commits.map(({ message }) => `* ${message.trim()}`).join('\n\n');
  return [`${title} (#${number})`, messages, [...coAuthors.values()].join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
}
