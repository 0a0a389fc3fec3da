import type { Order } from './order.ts';

/** yt-dlp's name where ours differs. */
const audioNames: Readonly<Record<string, string>> = { ogg: 'vorbis' };

/** Tests of yt-dlp's `vcodec` by the names that requests use. */
const codecTests: Readonly<Record<string, string>> = {
  h264: "[vcodec~='^(avc|h264)']",
  h265: "[vcodec~='^(hev|hvc|h265)']",
  av1: "[vcodec~='^av0?1']",
  vp9: "[vcodec~='^vp0?9']",
};

/**
 * The part of yt-dlp’s command line that chooses streams and container. What is asked for is expressed by sorting wherever that
 * is possible: a filter that matches nothing fails the download, a sort order falls back to what there is.
 * Without ffmpeg (`merge` false) only files that need no merging are asked for. `recode`: MP4 by encoding anew, for streams
 * that it cannot hold.
 */
export function selectionOf(
  order: Order,
  { merge, recode = false }: { readonly merge: boolean; readonly recode?: boolean },
): readonly string[] {
  if (order.type === 'audio') return audioSelection(order, merge);
  if (order.type === 'captions' || order.type === 'thumbnail') return [];
  return ['-f', videoSelector(order, merge), ...sorting(order), ...(merge ? container(order.format, recode) : [])];
}

function audioSelection({ format, quality }: Order, merge: boolean): readonly string[] {
  if (!merge) return ['-f', 'ba/b'];
  const bitrate = quality === 'best' ? '0' : `${quality}K`;
  return ['-f', 'ba/b', '--extract-audio', '--audio-format', audioNames[format] ?? format, '--audio-quality', bitrate];
}

function videoSelector({ codec, format, quality }: Order, merge: boolean): string {
  const worst = quality === 'worst';
  const [video, audio, both] = worst ? ['wv*', 'wa', 'w'] : ['bv*', 'ba', 'b'];
  const wanted = (tests: string, audioTests = ''): readonly string[] =>
    merge ? [`${video}${tests}+${audio}${audioTests}`, `${both}${tests}`] : [`${both}${tests}`];
  const choices = [
    ...(codecTests[codec] === undefined ? [] : wanted(codecTests[codec])),
    // Streams that are webm already spare the slow recoding.
    ...(format === 'webm' && !worst ? wanted('[ext=webm]', '[ext=webm]') : []),
    ...wanted(''),
  ];
  return choices.join('/');
}

/** `res:H` takes the largest not above H, else the smallest above it; it goes by the smaller side of a picture. */
function sorting({ codec, format, quality }: Order): readonly string[] {
  if (quality === 'worst') return [];
  const resolution = quality === 'best' ? 'res' : `res:${quality}`;
  if (format === 'ios') return ['-S', `vcodec:h264,${resolution},acodec:aac`];
  // A codec that was asked for is the selector's business.
  const compatible = format === 'mp4' && codec === 'auto' ? ',vcodec:h264,acodec:aac' : '';
  return ['-S', `${resolution}${compatible}`];
}

function container(format: string, recode: boolean): readonly string[] {
  switch (format) {
    case 'mp4':
      return ['--merge-output-format', recode ? 'mkv' : 'mp4', recode ? '--recode-video' : '--remux-video', 'mp4'];
    case 'mkv':
      return ['--merge-output-format', 'mkv', '--remux-video', 'mkv'];
    case 'ios':
      // What still is missing is done when the file is there.
      return ['--merge-output-format', 'mp4/mkv', '--postprocessor-args', 'Merger+ffmpeg_o:-movflags +faststart'];
    case 'webm':
      // As it comes, the encoder takes ten times as long as the film.
      return ['--merge-output-format', 'webm/mkv', '--recode-video', 'webm', ...recoding('-cpu-used 4 -row-mt 1')];
    case 'avi':
      // As it comes, the encoder makes do with 200 kbit a second, and not every ffmpeg has the one yt-dlp asks for.
      return [
        ...['--merge-output-format', 'mkv', '--recode-video', 'avi'],
        ...recoding('-c:v mpeg4 -q:v 3 -c:a libmp3lame -q:a 2'),
      ];
    default:
      return [];
  }
}

/** Arguments of ffmpeg where it converts; the last word is theirs. */
function recoding(args: string): readonly string[] {
  return ['--postprocessor-args', `VideoConvertor+ffmpeg_o:${args}`];
}
