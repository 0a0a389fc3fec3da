import type { RefChange } from '../domain/ref-change.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Protections, Pusher, PushDecision } from './protections.ts';
import { findReservedReferences } from './reserved-references.ts';
import type { TagProtections } from './tag-protections.ts';

/** Returns the references of a push that are rejected. */
export type PushRules = (
  repository: Repository,
  push: { readonly changes: readonly RefChange[] },
  pusher: Pusher,
) => Promise<PushDecision>;

/** Finds the references of a push that this system cannot store, with the reasons. */
export type FindUnstorable = (
  repository: Repository,
  changes: readonly RefChange[],
) => Promise<ReadonlyMap<string, string>>;

/** Creates the rules of pushes: reserved and unstorable references, and the protections of branches and tags. */
export function createPushRules(
  protections: Protections,
  tagProtections: TagProtections,
  findUnstorable: FindUnstorable,
): PushRules {
  return async (repository, { changes }, pusher) => {
    if (repository.archived)
      return { rejected: new Map(changes.map(({ ref }) => [ref, 'this repository is archived'])), addOnly: [] };
    const { addOnly, rejected } = await protections.evaluate(repository.id, changes, pusher);
    const tags = await tagProtections.findRejected(repository.id, changes, pusher);
    const unstorable = await findUnstorable(repository, changes);
    const reserved = findReservedReferences(repository, changes);
    return { addOnly, rejected: new Map([...unstorable, ...reserved, ...rejected, ...tags]) };
  };
}
