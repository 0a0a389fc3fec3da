import { Problem } from '../../contracts/problem.ts';
import type { UptimeStores } from '../store/stores.ts';
import { getTags } from '../wire/kuma-monitor.ts';
import {
  toNumber,
  toRecord,
  toTranslatedMessage,
  toText,
  type SocketEvents,
  type SocketDependencies,
} from './events.ts';

/** Returns the calls for tags. */
export function tagEvents({ tags }: UptimeStores): SocketEvents {
  return {
    getTags: { needs: 'read', run: () => ({ tags: [...tags.all.values()] }) },
    addTag: { needs: 'write', run: async (_session, tag) => ({ tag: await tags.add(parseTag(tag)) }) },
    editTag: {
      needs: 'write',
      run: async (_session, tag) => ({
        msg: 'Saved.',
        msgi18n: true,
        tag: await tags.change(toNumber(toRecord(tag)['id']), parseTag(tag)),
      }),
    },
    deleteTag: {
      needs: 'write',
      async run(_session, id) {
        await tags.remove(toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
  };
}

/** Returns the calls that add, change and remove the tags of a monitor. */
export function monitorTagEvents({ monitoring: { monitors }, stores: { tags } }: SocketDependencies): SocketEvents {
  const setTags = (id: number, list: readonly { readonly tag_id: number; readonly value: string }[]) =>
    monitors.change(id, { tags: list }, { merge: true, lenient: true });
  return {
    addMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        if (!tags.all.has(toNumber(tag))) throw new Problem('uptime.unknown_tag', 404, 'Tag not found');
        const monitor = monitors.get(toNumber(id));
        await setTags(monitor.id, [...getTags(monitor), { tag_id: toNumber(tag), value: toText(value) }]);
        return toTranslatedMessage('successAdded');
      },
    },
    editMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        const monitor = monitors.get(toNumber(id));
        await setTags(
          monitor.id,
          getTags(monitor).map((one) => (one.tag_id === toNumber(tag) ? { ...one, value: toText(value) } : one)),
        );
        return toTranslatedMessage('successEdited');
      },
    },
    deleteMonitorTag: {
      needs: 'write',
      async run(_session, tag, id, value) {
        const monitor = monitors.get(toNumber(id));
        const isMatch = (one: { tag_id: number; value: string }): boolean =>
          one.tag_id === toNumber(tag) && (value === undefined || one.value === toText(value));
        await setTags(
          monitor.id,
          getTags(monitor).filter((one) => !isMatch(one)),
        );
        return toTranslatedMessage('successDeleted');
      },
    },
  };
}

function parseTag(input: unknown): { name: string; color: string } {
  const { name, color } = toRecord(input);
  const tagName = toText(name).trim().slice(0, 255);
  if (tagName === '') throw new Problem('uptime.invalid', 400, 'A tag needs a name');
  return { name: tagName, color: toText(color).slice(0, 50) || '#4B5563' };
}
