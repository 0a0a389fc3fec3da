import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { openStandIn, type StandIn } from './stand-in.ts';

const run = promisify(execFile);

/** Sky colors of the film pictures, used in turn. */
const skies = [
  ['#f6b26b', '#274b73'],
  ['#8ec5d6', '#1d4e6b'],
  ['#d9c7a0', '#4d6b57'],
  ['#b5a4d4', '#2b2d55'],
  ['#e9856f', '#3a2440'],
] as const;

/** Starts a site with films and a picture for each; `source` is the address of the media. */
export async function openFilms(
  folder: string,
  source: string,
): Promise<StandIn & { page(title: string, path?: string): string; picture(sky: number): string }> {
  await Promise.all(
    skies.map(([above, below], index) =>
      run('ffmpeg', [
        ...['-nostdin', '-loglevel', 'error', '-y', '-f', 'lavfi'],
        ...['-i', `gradients=size=640x360:c0=${above}:c1=${below}:x0=320:y0=0:x1=320:y1=360:nb_colors=2`],
        ...['-frames:v', '1', join(folder, `sky${String(index)}.jpg`)],
      ]),
    ),
  );
  let createdCount = 0;
  const site = await openStandIn(8899, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://films');
    const picture = /^\/(sky\d\.jpg)$/.exec(url.pathname)?.[1];
    if (picture !== undefined) {
      response.writeHead(200, { 'content-type': 'image/jpeg' });
      createReadStream(join(folder, picture)).pipe(response);
      return;
    }
    const title = url.searchParams.get('title') ?? '';
    const meta = {
      title,
      type: 'video.other',
      video: `${source}${url.searchParams.get('film') ?? ''}`,
      image: `${site.url}/${url.searchParams.get('picture') ?? ''}`,
    };
    const tags = Object.entries(meta).map(([name, content]) => `<meta property="og:${name}" content="${content}">`);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><title>${title}</title>${tags.join('')}`);
  });
  return {
    ...site,
    picture: (sky) => `${site.url}/sky${String(sky)}.jpg`,
    page(title, film = '/big.mp4') {
      const query = new URLSearchParams({ title, film, picture: `sky${String(createdCount++ % skies.length)}.jpg` });
      return `${site.url}/watch?${query.toString()}`;
    },
  };
}
