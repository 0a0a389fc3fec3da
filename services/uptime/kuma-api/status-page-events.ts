import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { PageNote, publicConfig, PublicGroup } from '../../contracts/uptime/status-pages.ts';
import type { StoredPage } from '../store/status-pages.ts';
import {
  parseInput,
  toNumber,
  toTranslatedMessage,
  toText,
  type SocketEvents,
  type SocketDependencies,
} from './events.ts';
import { toRecord } from '../../contracts/is-record.ts';

/** Returns the calls for status pages. */
export function statusPageEvents({ pages }: SocketDependencies): SocketEvents {
  return {
    addStatusPage: {
      needs: 'write',
      async run(_session, title, slug) {
        const page = await pages.add(toText(slug), toText(title));
        return toTranslatedMessage('successAdded', { slug: page.config.slug });
      },
    },
    getStatusPage: {
      needs: 'read',
      run(_session, slug) {
        const page = pages.get(toText(slug));
        return { config: toKumaPage(page) };
      },
    },
    saveStatusPage: {
      needs: 'write',
      async run(_session, slug, config, _picture, groups) {
        // Clients of Uptime Kuma do not know who may see a page.
        const { id: _id, logo, access: _access, ...fields } = toRecord(config);
        const list = parseInput(z.array(PublicGroup), groups ?? []);
        const icon = typeof logo === 'string' ? { icon: logo } : {};
        const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
        const saved = await pages.change(toText(slug), { ...changes, ...icon }, list);
        return { publicGroupList: saved.groups };
      },
    },
    deleteStatusPage: {
      needs: 'write',
      async run(_session, slug) {
        await pages.remove(toText(slug));
        return {};
      },
    },
  };
}

/** Returns the calls for the notes of status pages, which Uptime Kuma calls incidents. */
export function pageNoteEvents({ pages }: SocketDependencies): SocketEvents {
  const note = async (slug: unknown, id: unknown, change: Parameters<typeof pages.changeNote>[2]) => ({
    incident: await pages.changeNote(pages.get(toText(slug)), toNumber(id), change),
  });
  return {
    postIncident: {
      needs: 'write',
      async run(_session, slug, input) {
        const fields = parseInput(PageNote, input);
        const id = toNumber(toRecord(input)['id']);
        if (id > 0) return note(slug, id, { ...fields, pin: true });
        return { incident: await pages.addNote(pages.get(toText(slug)), fields) };
      },
    },
    editIncident: { needs: 'write', run: (_session, slug, id, input) => note(slug, id, parseInput(PageNote, input)) },
    resolveIncident: {
      needs: 'write',
      run: (_session, slug, id) => note(slug, id, { active: false, pin: false }),
    },
    unpinIncident: {
      needs: 'write',
      async run(_session, slug) {
        await pages.unpin(pages.get(toText(slug)));
        return {};
      },
    },
    deleteIncident: {
      needs: 'write',
      async run(_session, slug, id) {
        await pages.removeNote(pages.get(toText(slug)), toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
    getIncidentHistory: {
      needs: 'nobody',
      async run(session, slug, cursor) {
        const page = pages.get(toText(slug));
        const isOpen = page.config.published && page.config.access === 'everyone';
        if (!isOpen && !session.signedIn) throw new Problem('uptime.unknown_page', 404, 'Status Page Not Found');
        const before = toText(cursor) === '' ? {} : { before: toText(cursor) };
        const pageNotes = await pages.notes(page, { ...before, limit: 11 });
        const incidents = pageNotes.slice(0, 10);
        const hasMore = pageNotes.length > incidents.length;
        const nextCursor = hasMore ? (incidents.at(-1)?.createdDate ?? null) : null;
        return { incidents, total: await pages.countNotes(page), nextCursor, hasMore };
      },
    },
  };
}

/** Returns all status pages by ID. */
export function statusPageList(all: readonly StoredPage[]): Record<string, unknown> {
  return Object.fromEntries(all.map((page) => [String(page.id), toKumaPage(page)]));
}

function toKumaPage({ id, config }: StoredPage) {
  return { id, ...publicConfig(config), domainNameList: config.domainNameList };
}
