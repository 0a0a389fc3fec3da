import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { peerWords } from '../domain/config.ts';
import { Formatting } from '../domain/config-format.ts';
import { debridServices } from '../domain/debrid-services.ts';
import { formatterOf } from '../domain/format/predefined.ts';
import { parseRelease } from '../domain/release.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { RouteParts } from './route-dependencies.ts';
import { readBody, sendEnvelope } from './response.ts';

const FormatBody = z.object({
  stream: z.looseObject({ filename: z.string().max(1000).nullish() }),
  context: z
    .looseObject({
      userData: z
        .looseObject({
          addonName: z.string().max(200).nullish(),
          formatter: z.looseObject({ id: z.string().max(60), definitions: z.looseObject({}).nullish() }).nullish(),
        })
        .nullish(),
    })
    .nullish(),
});

/** Answers `/api/v1/format`, which formats a stream for the editor. */
export async function formatRoute(
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = FormatBody.safeParse(await readBody(request), peerWords);
  if (!body.success) {
    const code = body.error.issues[0]?.path[0] === 'stream' ? 'addons.bad_stream' : 'addons.bad_formatter';
    throw new Problem(code, 400, body.error.issues[0]?.message ?? 'The body does not fit.');
  }
  const { stream, context } = body.data;
  const formatter = context?.userData?.formatter ?? { id: 'torrentio' };
  const format = Formatting.safeParse(formatter);
  if (!format.success)
    throw new Problem(
      'addons.bad_formatter',
      400,
      'A format has a name and a description of at most 20,000 characters each.',
    );
  const ready = formatterOf(format.data);
  const values = { stream: sampleStream(stream), addonName: context?.userData?.addonName ?? parts.settings.addonName };
  await sendEnvelope(request, response, {
    status: 200,
    data: { name: ready.name(values), description: ready.description(values) },
  });
}

/** Converts a stream from the request of a client, in the shape of a search result. */
function sampleStream(given: Readonly<Record<string, unknown>>): ParsedStream {
  const text = (name: string): string | undefined => (typeof given[name] === 'string' ? given[name] : undefined);
  const number = (name: string): number | undefined => (typeof given[name] === 'number' ? given[name] : undefined);
  const service =
    typeof given['service'] === 'object' && given['service'] !== null
      ? (given['service'] as Record<string, unknown>)
      : { id: given['service'], cached: given['cached'] };
  const known = debridServices.find(({ id }) => id === service['id']);
  const addon = given['addon'];
  const name =
    typeof addon === 'string'
      ? addon
      : typeof addon === 'object' && addon !== null && 'name' in addon && typeof addon.name === 'string'
        ? addon.name
        : 'Addon';
  const parsed = typeof given['parsedFile'] === 'object' && given['parsedFile'] !== null ? given['parsedFile'] : {};
  const type = text('type') as ParsedStream['type'] | undefined;
  return {
    id: 'sample',
    addon: {
      instanceId: 'sample',
      presetType: 'custom',
      name,
      index: 0,
      manifestUrl: '',
      library: false,
      formatPassthrough: false,
      resultPassthrough: false,
      pinPosition: undefined,
    },
    upstream: {},
    hints: {},
    type: type ?? (known === undefined ? 'http' : 'debrid'),
    service: known === undefined ? undefined : { id: known.id, cached: service['cached'] !== false },
    library: given['library'] === true,
    proxied: given['proxied'] === true,
    url: text('url'),
    infoHash: text('infoHash'),
    fileIdx: number('fileIdx'),
    sources: undefined,
    filename: text('filename'),
    folderName: text('folderName'),
    size: number('size'),
    folderSize: number('folderSize'),
    seeders: number('seeders'),
    age: number('age'),
    duration: number('duration') ?? 0,
    indexer: text('indexer'),
    message: text('message'),
    private: given['private'] === true,
    file: { ...parseRelease(text('filename') ?? ''), ...listsOnly(parsed) },
  };
}

/** Returns the members of a parsed file that have a valid type. */
function listsOnly(parsed: object): Record<string, unknown> {
  const lists = new Set(['editions', 'visualTags', 'audioTags', 'audioChannels', 'languages', 'subtitles']);
  return Object.fromEntries(
    Object.entries(parsed).filter(([name, value]) =>
      lists.has(name)
        ? Array.isArray(value) && value.every((item) => typeof item === 'string')
        : typeof value === 'string' && name !== 'seasons' && name !== 'episodes',
    ),
  );
}
