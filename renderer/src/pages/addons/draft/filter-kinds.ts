/** Attribute of streams for filtering and sorting. */
export interface FilterKind {
  /** Suffix of the list names, after `excluded`, `required`, `included` and `preferred`. */
  readonly name: string;
  readonly title: string;
  /** Values from best to worst; empty for free text. */
  readonly values: readonly string[];
  /** Labels of values that differ from the value. */
  readonly names?: Readonly<Record<string, string>>;
  /** Descriptions of abbreviations. */
  readonly descriptions?: Readonly<Record<string, string>>;
  /** Hint for free text. */
  readonly hint?: string;
}

/** Actions for the values of an attribute. */
export const verbs = [
  ['excluded', 'Hide'],
  ['required', 'Show nothing but'],
  ['included', 'Show in any case'],
  ['preferred', 'Prefer, in this order'],
] as const;

const languages: readonly string[] = [
  'English',
  'Japanese',
  'Chinese',
  'Taiwanese',
  'Russian',
  'Arabic',
  'Portuguese',
  'Spanish',
  'Latino',
  'French',
  'German',
  'Italian',
  'Korean',
  'Hindi',
  'Bengali',
  'Punjabi',
  'Marathi',
  'Gujarati',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Thai',
  'Vietnamese',
  'Indonesian',
  'Turkish',
  'Hebrew',
  'Persian',
  'Ukrainian',
  'Greek',
  'Lithuanian',
  'Latvian',
  'Estonian',
  'Polish',
  'Czech',
  'Slovak',
  'Hungarian',
  'Romanian',
  'Bulgarian',
  'Serbian',
  'Croatian',
  'Slovenian',
  'Dutch',
  'Danish',
  'Finnish',
  'Swedish',
  'Norwegian',
  'Malay',
  'Multi',
  'Dual Audio',
  'Dubbed',
  'Original',
  'Unknown',
];
const splitList = (values: string): readonly string[] => values.split(',');

/** Filter attributes, the most common first. */
export const filterKinds: readonly FilterKind[] = [
  {
    name: 'Resolutions',
    title: 'Resolution',
    values: splitList('2160p,1440p,1080p,720p,576p,480p,360p,240p,144p,Unknown'),
  },
  {
    name: 'Qualities',
    title: 'Quality',
    values: splitList('BluRay REMUX,BluRay,WEB-DL,WEBRip,HDRip,HC HD-Rip,DVD REMUX,DVDRip,HDTV,CAM,TS,TC,SCR,Unknown'),
    descriptions: {
      CAM: 'Filmed with a camera in a cinema',
      TS: 'Telesync: filmed in a cinema, with the sound of its system',
      TC: 'Telecine: copied from the film reel',
      SCR: 'Screener: a copy for critics, often with a watermark',
      'HC HD-Rip': 'With subtitles in the picture that cannot be switched off',
      'BluRay REMUX': 'Picture and sound of the disc, unchanged',
    },
  },
  { name: 'Languages', title: 'Language of the sound', values: languages },
  { name: 'Subtitles', title: 'Language of the subtitles', values: languages },
  {
    name: 'VisualTags',
    title: 'Picture',
    values: splitList(
      'HDR+DV,DV Only,HDR Only,HDR10+,HDR10,DV,HDR,HLG,10bit,3D,IMAX,AI,Upscaled,SDR,H-OU,H-SBS,Unknown',
    ),
  },
  {
    name: 'AudioTags',
    title: 'Sound',
    values: splitList('Atmos,DD+,DD,DTS:X,DTS-HD MA,DTS-HD,DTS-ES,DTS,TrueHD,PCM,OPUS,FLAC,AAC,Unknown'),
  },
  { name: 'AudioChannels', title: 'Channels', values: splitList('7.1,6.1,5.1,2.0,Unknown') },
  { name: 'Encodes', title: 'Encoding', values: splitList('AV1,HEVC,AVC,VC-1,XviD,DivX,MPEG-4,Unknown') },
  {
    name: 'StreamTypes',
    title: 'Kind of stream',
    values: splitList('debrid,usenet,p2p,live,http,archive,stremio-usenet,external,youtube'),
    names: {
      debrid: 'From an account',
      usenet: 'Usenet',
      p2p: 'Torrent',
      live: 'Live',
      http: 'Direct link',
      archive: 'Archive',
      'stremio-usenet': 'Usenet in Stremio',
      external: 'Opens elsewhere',
      youtube: 'YouTube',
    },
  },
  { name: 'ReleaseGroups', title: 'Release group', values: [], hint: 'Such as NTb, one a line.' },
  { name: 'Keywords', title: 'Words in the name', values: [], hint: 'Such as extended cut, one a line.' },
  {
    name: 'RegexPatterns',
    title: 'Regular expressions',
    values: [],
    hint: String.raw`Such as \bremux\b or /x26[45]/i, one a line.`,
  },
];

/** Age ratings that exclude whole titles. */
export const ratingKinds = [
  { name: 'excludedCertifications', title: 'Age ratings to hide', hint: 'Such as R, TV-MA or 18, one a line.' },
  {
    name: 'requiredCertifications',
    title: 'Age ratings to show alone',
    hint: 'Such as G, PG or 6. Titles without a rating are Unknown.',
  },
] as const;
export const nudityLevels = ['none', 'mild', 'moderate', 'severe'] as const;
export const nudityNames = { none: 'None', mild: 'Mild', moderate: 'Moderate', severe: 'Severe' } as const;

/** Names of all lists of a configuration that can be edited. */
export const listNames: readonly string[] = [
  ...filterKinds.flatMap(({ name }) => verbs.map(([verb]) => `${verb}${name}`)),
  ...ratingKinds.map(({ name }) => name),
  'excludeNudity',
];

/** Sort criteria of streams, with their labels. */
export const sortKeys: readonly (readonly [key: string, title: string])[] = [
  ['cached', 'Plays at once'],
  ['library', 'In the library'],
  ['resolution', 'Resolution, as preferred'],
  ['quality', 'Quality, as preferred'],
  ['size', 'Size'],
  ['seeders', 'Seeders'],
  ['bitrate', 'Bit rate'],
  ['age', 'Age'],
  ['language', 'Language, as preferred'],
  ['subtitle', 'Subtitles, as preferred'],
  ['visualTag', 'Picture, as preferred'],
  ['audioTag', 'Sound, as preferred'],
  ['audioChannel', 'Channels, as preferred'],
  ['encode', 'Encoding, as preferred'],
  ['streamType', 'Kind of stream, as preferred'],
  ['releaseGroup', 'Release group, as preferred'],
  ['keyword', 'Preferred words'],
  ['regexPatterns', 'Preferred expressions'],
  ['service', 'Order of the accounts'],
  ['addon', 'Order of the addons'],
  ['private', 'Private trackers'],
  ['regexScore', 'Scores of regular expressions'],
  ['streamExpressionMatched', 'Preferred stream expressions'],
  ['streamExpressionScore', 'Scores of stream expressions'],
  ['seadex', 'Recommended by SeaDex'],
];

/** Sort orders of a configuration, with their labels. Empty ones use the first. */
export const sortLists: readonly (readonly [name: string, title: string])[] = [
  ['global', 'Everything'],
  ['movies', 'Films'],
  ['series', 'Series'],
  ['anime', 'Anime'],
  ['cached', 'What plays at once'],
  ['uncached', 'What has to be fetched'],
  ['cachedMovies', 'Films that play at once'],
  ['uncachedMovies', 'Films that have to be fetched'],
  ['cachedSeries', 'Series that play at once'],
  ['uncachedSeries', 'Series that have to be fetched'],
  ['cachedAnime', 'Anime that plays at once'],
  ['uncachedAnime', 'Anime that has to be fetched'],
];
