import type { Commit } from '../repositories/commits.ts';

/** What a merge is described by where nobody says it himself. */
export interface MergeSubject {
  readonly title: string;
  readonly number: number;
  /** `dev`, or `owner/name:dev` of another repository. */
  readonly from: string;
  readonly into: string;
}

/** The message of the commit that a merge makes, in the peer's words. */
export function mergeMessage({ title, number, from, into }: MergeSubject): string {
  return `Merge pull request '${title}' (#${number}) from ${from} into ${into}`;
}

/** The message of the one commit that others are squashed into: what they said, and who made them beside its author. */
export function squashMessage(
  { title, number }: MergeSubject,
  commits: readonly Commit[],
  author: { readonly email: string },
): string {
  const others = new Map(commits.map(({ author: { name, email } }) => [email, `Co-authored-by: ${name} <${email}>`]));
  others.delete(author.email);
  const said = commits.length < 2 ? '' : commits.map(({ message }) => `* ${message.trim()}`).join('\n\n');
  return [`${title} (#${number})`, said, [...others.values()].join('\n')].filter((part) => part !== '').join('\n\n');
}
