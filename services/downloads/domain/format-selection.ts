import type { Order } from './order.ts';

/** yt-dlp's names of formats that differ. */
const audioNames: Readonly<Record<string, string>> = { ogg: 'vorbis' };

/** Filters on yt-dlp's `vcodec` by the codec names of requests. */
const codecTests: Readonly<Record<string, string>> = {
  h264: "[vcodec~='^(avc|h264)']",
  h265: "[vcodec~='^(hev|hvc|h265)']",
  av1: "[vcodec~='^av0?1']",
  vp9: "[vcodec~='^vp0?9']",
};

/**
 * Returns the command line arguments that select streams and container. Preferences are expressed by sorting where
 * possible: a filter without a match fails the download, while a sort order falls back to what exists. Without ffmpeg
 * (`merge` false), only files that need no merging are selected. `recode` creates MP4 by re-encoding, for streams that
 * it cannot contain.
 */
export function buildSelectionArguments(
  order: Order,
  { merge, recode = false }: { readonly merge: boolean; readonly recode?: boolean },
): readonly string[] {
  if (order.type === 'audio') return buildAudioSelection(order, merge);
  if (order.type === 'captions' || order.type === 'thumbnail') return [];
  return [
    '-f',
    buildVideoSelector(order, merge),
    ...buildSortOrder(order),
    ...(merge ? buildContainerArguments(order.format, recode) : []),
  ];
}

function buildAudioSelection({ format, quality }: Order, merge: boolean): readonly string[] {
  if (!merge) return ['-f', 'ba/b'];
  const bitrate = quality === 'best' ? '0' : `${quality}K`;
  return ['-f', 'ba/b', '--extract-audio', '--audio-format', audioNames[format] ?? format, '--audio-quality', bitrate];
}

function buildVideoSelector({ codec, format, quality }: Order, merge: boolean): string {
  const worst = quality === 'worst';
  const [video, audio, both] = worst ? ['wv*', 'wa', 'w'] : ['bv*', 'ba', 'b'];
  const buildChoices = (tests: string, audioTests = ''): readonly string[] =>
    merge ? [`${video}${tests}+${audio}${audioTests}`, `${both}${tests}`] : [`${both}${tests}`];
  const choices = [
    ...(codecTests[codec] === undefined ? [] : buildChoices(codecTests[codec])),
    // WebM streams avoid the slow re-encoding.
    ...(format === 'webm' && !worst ? buildChoices('[ext=webm]', '[ext=webm]') : []),
    ...buildChoices(''),
  ];
  return choices.join('/');
}

/**
 * Returns the sort order. `res:H` selects the largest resolution not above H, otherwise the smallest above it, by the
 * smaller side of the picture.
 */
function buildSortOrder({ codec, format, quality }: Order): readonly string[] {
  if (quality === 'worst') return [];
  const resolution = quality === 'best' ? 'res' : `res:${quality}`;
  if (format === 'ios') return ['-S', `vcodec:h264,${resolution},acodec:aac`];
  // A requested codec is handled by the selector.
  const codecPreference = format === 'mp4' && codec === 'auto' ? ',vcodec:h264,acodec:aac' : '';
  return ['-S', `${resolution}${codecPreference}`];
}

function buildContainerArguments(format: string, recode: boolean): readonly string[] {
  switch (format) {
    case 'mp4':
      return ['--merge-output-format', recode ? 'mkv' : 'mp4', recode ? '--recode-video' : '--remux-video', 'mp4'];
    case 'mkv':
      return ['--merge-output-format', 'mkv', '--remux-video', 'mkv'];
    case 'ios':
      // The rest of the conversion is done on the finished file.
      return ['--merge-output-format', 'mp4/mkv', '--postprocessor-args', 'Merger+ffmpeg_o:-movflags +faststart'];
    case 'webm':
      // With its defaults, the encoder takes ten times the duration of the video.
      return [
        '--merge-output-format',
        'webm/mkv',
        '--recode-video',
        'webm',
        ...buildRecodeArguments('-cpu-used 4 -row-mt 1'),
      ];
    case 'avi':
      // With its defaults, the encoder uses 200 kbit/s, and not every ffmpeg has the encoder that yt-dlp selects.
      return [
        ...['--merge-output-format', 'mkv', '--recode-video', 'avi'],
        ...buildRecodeArguments('-c:v mpeg4 -q:v 3 -c:a libmp3lame -q:a 2'),
      ];
    default:
      return [];
  }
}

/** Passes ffmpeg arguments for conversions, which override others. */
function buildRecodeArguments(args: string): readonly string[] {
  return ['--postprocessor-args', `VideoConvertor+ffmpeg_o:${args}`];
}
