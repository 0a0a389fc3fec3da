import type { PushRules } from '../transfer/transfer.ts';
import type { Protections } from './protections.ts';
import { findReservedReferences } from './reserved-references.ts';
import type { TagProtections } from './tag-protections.ts';

/** Creates the rules of pushes: reserved references and the protections of branches and tags. */
export function createPushRules(protections: Protections, tagProtections: TagProtections): PushRules {
  return async (repository, { changes }, pusher) => {
    if (repository.archived)
      return { rejected: new Map(changes.map(({ ref }) => [ref, 'this repository is archived'])), addOnly: [] };
    const { addOnly, rejected } = await protections.evaluate(repository.id, changes, pusher);
    const tags = await tagProtections.findRejected(repository.id, changes, pusher);
    return { addOnly, rejected: new Map([...findReservedReferences(repository, changes), ...rejected, ...tags]) };
  };
}
