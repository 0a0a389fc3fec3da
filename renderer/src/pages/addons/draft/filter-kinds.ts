import * as m from '#messages/addons-rules';
import { languageNames, languages } from './stream-languages.ts';

/** Functions that return the text of a value, by value. */
type ValueTexts = Readonly<Record<string, () => string>>;

/** Attribute of streams for filtering and sorting. */
export interface FilterKind {
  /** Suffix of the list names, after `excluded`, `required`, `included` and `preferred`. */
  readonly name: string;
  readonly title: () => string;
  /** Title inside of a sentence. */
  readonly phrase: () => string;
  /** Values from best to worst; empty for free text. */
  readonly values: readonly string[];
  /** Labels of values that differ from the value. */
  readonly names?: ValueTexts;
  /** Descriptions of abbreviations. */
  readonly descriptions?: ValueTexts;
  /** Hint for free text. */
  readonly hint?: () => string;
}

/** Actions for the values of an attribute. */
export const verbs = [
  ['excluded', m.hide],
  ['required', m.showNothingBut],
  ['included', m.showInAnyCase],
  ['preferred', m.preferInThisOrder],
] as const;

/** Label of the value of streams that do not state an attribute. */
const unknownName: ValueTexts = { Unknown: m.unknownValue };
const splitList = (values: string): readonly string[] => values.split(',');

/** Filter attributes, the most common first. */
export const filterKinds: readonly FilterKind[] = [
  {
    name: 'Resolutions',
    title: m.resolution,
    phrase: m.resolutionsFilterPhrase,
    names: unknownName,
    values: splitList('2160p,1440p,1080p,720p,576p,480p,360p,240p,144p,Unknown'),
  },
  {
    name: 'Qualities',
    title: m.quality,
    phrase: m.qualitiesFilterPhrase,
    names: unknownName,
    values: splitList('BluRay REMUX,BluRay,WEB-DL,WEBRip,HDRip,HC HD-Rip,DVD REMUX,DVDRip,HDTV,CAM,TS,TC,SCR,Unknown'),
    descriptions: {
      CAM: m.filmedWithACameraIn,
      TS: m.telesyncFilmedInACinema,
      TC: m.telecineCopiedFromTheFilm,
      SCR: m.screenerACopyForCritics,
      'HC HD-Rip': m.withSubtitlesInThePicture,
      'BluRay REMUX': m.pictureAndSoundOfThe,
    },
  },
  {
    name: 'Languages',
    title: m.languageOfTheSound,
    phrase: m.languagesFilterPhrase,
    values: languages,
    names: languageNames,
  },
  {
    name: 'Subtitles',
    title: m.languageOfTheSubtitles,
    phrase: m.subtitlesFilterPhrase,
    values: languages,
    names: languageNames,
  },
  {
    name: 'VisualTags',
    title: m.picture,
    phrase: m.visualTagsFilterPhrase,
    names: unknownName,
    values: splitList(
      'HDR+DV,DV Only,HDR Only,HDR10+,HDR10,DV,HDR,HLG,10bit,3D,IMAX,AI,Upscaled,SDR,H-OU,H-SBS,Unknown',
    ),
  },
  {
    name: 'AudioTags',
    title: m.sound,
    phrase: m.audioTagsFilterPhrase,
    names: unknownName,
    values: splitList('Atmos,DD+,DD,DTS:X,DTS-HD MA,DTS-HD,DTS-ES,DTS,TrueHD,PCM,OPUS,FLAC,AAC,Unknown'),
  },
  {
    name: 'AudioChannels',
    title: m.channels,
    phrase: m.audioChannelsFilterPhrase,
    names: unknownName,
    values: splitList('7.1,6.1,5.1,2.0,Unknown'),
  },
  {
    name: 'Encodes',
    title: m.encoding,
    phrase: m.encodesFilterPhrase,
    names: unknownName,
    values: splitList('AV1,HEVC,AVC,VC-1,XviD,DivX,MPEG-4,Unknown'),
  },
  {
    name: 'StreamTypes',
    title: m.kindOfStream,
    phrase: m.streamTypesFilterPhrase,
    values: splitList('debrid,usenet,p2p,live,http,archive,stremio-usenet,external,youtube'),
    names: {
      debrid: m.fromAnAccount,
      usenet: m.usenet,
      p2p: m.torrent,
      live: m.live,
      http: m.directLink,
      archive: m.archive,
      'stremio-usenet': m.usenetInStremio,
      external: m.opensElsewhere,
      youtube: m.youTube,
    },
  },
  {
    name: 'ReleaseGroups',
    title: m.releaseGroup,
    phrase: m.releaseGroupsFilterPhrase,
    values: [],
    hint: m.suchAsNTbOneA,
  },
  {
    name: 'Keywords',
    title: m.wordsInTheName,
    phrase: m.keywordsFilterPhrase,
    values: [],
    hint: m.suchAsExtendedCutOne,
  },
  {
    name: 'RegexPatterns',
    title: m.regularExpressions,
    phrase: m.regexPatternsFilterPhrase,
    values: [],
    hint: m.regexPatternsHint,
  },
];

/** Age ratings that exclude whole titles. */
export const ratingKinds = [
  { name: 'excludedCertifications', title: m.ageRatingsToHide, hint: m.suchAsRTVMA },
  {
    name: 'requiredCertifications',
    title: m.ageRatingsToShowAlone,
    hint: m.suchAsGPGOr,
  },
] as const;
export const nudityLevels = ['none', 'mild', 'moderate', 'severe'] as const;
export const nudityNames: ValueTexts = { none: m.noNudity, mild: m.mild, moderate: m.moderate, severe: m.severe };

/** Returns the texts of values in the current language. */
export function getValueTexts(texts: ValueTexts = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([value, getText]) => [value, getText()]));
}

/** Names of all lists of a configuration that can be edited. */
export const listNames: readonly string[] = [
  ...filterKinds.flatMap(({ name }) => verbs.map(([verb]) => `${verb}${name}`)),
  ...ratingKinds.map(({ name }) => name),
  'excludeNudity',
];

/** Sort criteria of streams, with their labels and their phrases inside of a sentence. */
export const sortKeys: readonly (readonly [key: string, title: () => string, phrase: () => string])[] = [
  ['cached', m.playsAtOnce, m.cachedPhrase],
  ['library', m.inTheLibrary, m.libraryPhrase],
  ['resolution', m.resolutionAsPreferred, m.resolutionPhrase],
  ['quality', m.qualityAsPreferred, m.qualityPhrase],
  ['size', m.size, m.sizePhrase],
  ['seeders', m.seeders, m.seedersPhrase],
  ['bitrate', m.bitRate, m.bitratePhrase],
  ['age', m.age, m.agePhrase],
  ['language', m.languageAsPreferred, m.languagePhrase],
  ['subtitle', m.subtitlesAsPreferred, m.subtitlePhrase],
  ['visualTag', m.pictureAsPreferred, m.visualTagPhrase],
  ['audioTag', m.soundAsPreferred, m.audioTagPhrase],
  ['audioChannel', m.channelsAsPreferred, m.audioChannelPhrase],
  ['encode', m.encodingAsPreferred, m.encodePhrase],
  ['streamType', m.kindOfStreamAsPreferred, m.streamTypePhrase],
  ['releaseGroup', m.releaseGroupAsPreferred, m.releaseGroupPhrase],
  ['keyword', m.preferredWords, m.keywordPhrase],
  ['regexPatterns', m.preferredExpressions, m.regexPatternsPhrase],
  ['service', m.orderOfTheAccounts, m.servicePhrase],
  ['addon', m.orderOfTheAddons, m.addonPhrase],
  ['private', m.privateTrackers, m.privatePhrase],
  ['regexScore', m.scoresOfRegularExpressions, m.regexScorePhrase],
  ['streamExpressionMatched', m.preferredStreamExpressions, m.streamExpressionMatchedPhrase],
  ['streamExpressionScore', m.scoresOfStreamExpressions, m.streamExpressionScorePhrase],
  ['seadex', m.recommendedBySeaDex, m.seadexPhrase],
];

/** Sort orders of a configuration, with their labels. Empty ones use the first. */
export const sortLists: readonly (readonly [name: string, title: () => string])[] = [
  ['global', m.globalList],
  ['movies', m.moviesList],
  ['series', m.seriesList],
  ['anime', m.animeList],
  ['cached', m.cachedList],
  ['uncached', m.uncachedList],
  ['cachedMovies', m.cachedMoviesList],
  ['uncachedMovies', m.uncachedMoviesList],
  ['cachedSeries', m.cachedSeriesList],
  ['uncachedSeries', m.uncachedSeriesList],
  ['cachedAnime', m.cachedAnimeList],
  ['uncachedAnime', m.uncachedAnimeList],
];
