import type { NotifyDestination } from '../../../../services/contracts/notify/api.ts';
import { kindName } from '../../../../services/contracts/notify/kind-name.ts';

/** What a person calls a destination: by the tags they gave it, for several may be of one kind; else by its kind. */
export function destinationName({ tags, service }: Pick<NotifyDestination, 'tags' | 'service'>): string {
  return tags.length === 0 ? kindName(service) : tags.join(', ');
}
