import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { parseByteRange } from '../../kit/http/byte-range.ts';
import { sendReply, startResponse } from '../../kit/http/respond.ts';
import { isPublicAddress } from '../domain/public-address.ts';
import type { Playback } from '../playback/player.ts';
import { decodeAddressSegment } from '../profiles/address-segment.ts';
import { getForwardableHeaders } from '../proxy/stream-proxy.ts';
import type { RouteDependencies } from './route-dependencies.ts';
import { redirect } from './response.ts';

const clipFolder = new URL('../playback/clips/', import.meta.url);
const clips = new Map<string, Buffer>();

/** Answers `/static/NAME.mp4` with a clip that explains a failure. */
export async function handleStatic(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
  if (!/^[a-z-]{1,40}\.mp4$/.test(name)) throw new Problem('addons.unknown_path', 404, 'Not Found');
  let bytes = clips.get(name);
  if (bytes === undefined) {
    bytes = await readFile(new URL(name, clipFolder)).catch((cause: unknown) => {
      throw new Problem('addons.unknown_path', 404, 'Not Found', { cause });
    });
    clips.set(name, bytes);
  }
  sendRange(request, response, bytes);
}

function sendRange(request: IncomingMessage, response: ServerResponse, bytes: Buffer): void {
  const headers = { 'Content-Type': 'video/mp4', 'Accept-Ranges': 'bytes', 'Cache-Control': 'no-store' };
  const size = bytes.length;
  const range = parseByteRange(request.headers.range, size);
  if (range === undefined) return sendReply(response, { status: 200, headers, body: bytes });
  if (range === 'unsatisfiable') {
    return sendReply(response, { status: 416, headers: { ...headers, 'Content-Range': `bytes */${String(size)}` } });
  }
  const { start, end } = range;
  const contentRange = `bytes ${String(start)}-${String(end)}/${String(size)}`;
  const body = bytes.subarray(start, end + 1);
  sendReply(response, { status: 206, headers: { ...headers, 'Content-Range': contentRange }, body });
}

/** Answers `/api/v1/debrid/playback/…` with a redirect to the file, or to a clip that explains the failure. */
export async function handlePlayback(
  { playback: { links, player }, context, catalog: { requestContexts }, activity }: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  segments: readonly string[],
): Promise<void> {
  const playbackRequest = links.parsePath(segments);
  if (playbackRequest === undefined)
    throw new Problem(
      'addons.unauthorized',
      401,
      'This address was not created by this Homeport, or its secret key has changed. Open the title again.',
    );
  const { remoteAddress } = context.caller(request);
  const userIp = isIP(remoteAddress) !== 0 && isPublicAddress(remoteAddress) ? remoteAddress : undefined;
  let playback: Playback | undefined;
  if (request.method === 'HEAD') {
    playback = player.findCached(playbackRequest, userIp);
    if (playback === undefined) {
      startResponse(response, 200, { 'Content-Type': 'video/mp4', 'Cache-Control': 'no-store' });
      return void response.end();
    }
  } else playback = await player.play(playbackRequest, userIp);
  if (request.method === 'GET' && 'url' in playback) activity.recordPlay();
  if ('url' in playback) redirect(response, playback.url, 307);
  else redirect(response, `${requestContexts.getBaseUrl(request)}/static/${playback.clip}.mp4`, 307);
}

/** Answers `/proxy/{addon}/{endpoint}` with the unchanged response of a configured addon. */
export async function handleAddonProxy(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  { userId, addonId, endpoint }: { readonly userId: string; readonly addonId: string; readonly endpoint: string },
): Promise<void> {
  const { requestContexts, aggregator } = dependencies.catalog;
  const { proxy } = dependencies.playback;
  const user = decodeAddressSegment(userId);
  if (user === undefined) throw new Problem('addons.unauthorized', 401, 'userId says whose addon this is.');
  const requestContext = await requestContexts.fromInstallAddress(request, user.uuid, user.encryptedPassword);
  const addon = aggregator
    .resolveAddons(requestContext)
    .addons.find(({ presetId, instanceId }) => presetId === addonId || instanceId === addonId);
  if (addon === undefined || addon.builtIn !== undefined)
    throw new Problem('addons.no_addon', 404, `There is no addon ${addonId.slice(0, 60)} in this configuration.`);
  // The endpoint must be below the base address of the addon after normalization.
  const url = new URL(`${addon.baseUrl}/${endpoint}`);
  if (!url.href.startsWith(`${addon.baseUrl}/`))
    throw new Problem('addons.bad_path', 400, 'This path leaves the addon.');
  const query = new URLSearchParams(addon.query);
  for (const [name, value] of new URL(request.url ?? '/', 'http://localhost').searchParams)
    if (name !== 'userId') query.set(name, value);
  url.search = query.toString();
  await proxy.forward(request, response, url.href, {
    headers: getForwardableHeaders(request.headers),
    trust: addon.trust,
  });
}
