import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { peerErrorMessages } from '../domain/config.ts';
import { FormatConfig } from '../domain/config-format.ts';
import { debridServices } from '../domain/debrid-services.ts';
import { compileFormat } from '../domain/format/predefined.ts';
import { parseRelease } from '../domain/release.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { RouteDependencies } from './route-dependencies.ts';
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
export async function handleFormat(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = FormatBody.safeParse(await readBody(request), peerErrorMessages);
  if (!body.success) {
    const code = body.error.issues[0]?.path[0] === 'stream' ? 'addons.bad_stream' : 'addons.bad_formatter';
    throw new Problem(code, 400, body.error.issues[0]?.message ?? 'The request body is not valid.');
  }
  const { stream, context } = body.data;
  const formatter = context?.userData?.formatter ?? { id: 'torrentio' };
  const format = FormatConfig.safeParse(formatter);
  if (!format.success)
    throw new Problem(
      'addons.bad_formatter',
      400,
      'A format has a name and a description of at most 20,000 characters each.',
    );
  const compiledFormatter = compileFormat(format.data);
  const values = {
    stream: toStream(stream),
    addonName: context?.userData?.addonName ?? dependencies.settings.addonName,
  };
  await sendEnvelope(request, response, {
    status: 200,
    data: { name: compiledFormatter.name(values), description: compiledFormatter.description(values) },
  });
}

/** Converts a stream from the request of a client, in the shape of a search result. */
function toStream(description: Readonly<Record<string, unknown>>): ParsedStream {
  const text = (name: string): string | undefined =>
    typeof description[name] === 'string' ? description[name] : undefined;
  const number = (name: string): number | undefined =>
    typeof description[name] === 'number' ? description[name] : undefined;
  const service =
    typeof description['service'] === 'object' && description['service'] !== null
      ? (description['service'] as Record<string, unknown>)
      : { id: description['service'], cached: description['cached'] };
  const knownService = debridServices.find(({ id }) => id === service['id']);
  const addon = description['addon'];
  const name =
    typeof addon === 'string'
      ? addon
      : typeof addon === 'object' && addon !== null && 'name' in addon && typeof addon.name === 'string'
        ? addon.name
        : 'Addon';
  const parsed =
    typeof description['parsedFile'] === 'object' && description['parsedFile'] !== null
      ? description['parsedFile']
      : {};
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
    type: type ?? (knownService === undefined ? 'http' : 'debrid'),
    service: knownService === undefined ? undefined : { id: knownService.id, cached: service['cached'] !== false },
    library: description['library'] === true,
    proxied: description['proxied'] === true,
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
    private: description['private'] === true,
    file: { ...parseRelease(text('filename') ?? ''), ...pickValidFields(parsed) },
  };
}

/** Returns the members of a parsed file that have a valid type. */
function pickValidFields(parsed: object): Record<string, unknown> {
  const lists = new Set(['editions', 'visualTags', 'audioTags', 'audioChannels', 'languages', 'subtitles']);
  return Object.fromEntries(
    Object.entries(parsed).filter(([name, value]) =>
      lists.has(name)
        ? Array.isArray(value) && value.every((item) => typeof item === 'string')
        : typeof value === 'string' && name !== 'seasons' && name !== 'episodes',
    ),
  );
}
