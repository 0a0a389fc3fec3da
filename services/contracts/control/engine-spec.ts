/**
 * An outside program that a service needs, in its manifest: how it is found, asked for its version, installed and spoken of.
 * Services that need the same program share one object of `services/kit`.
 */
export interface EngineSpec {
  /** Also its executable's name and that of its folder: `yt-dlp`. */
  readonly name: string;
  /** As its people write it. */
  readonly title: string;
  /** One sentence: what it does. */
  readonly purpose: string;
  /** What its absence means for a person. */
  readonly absence: string;
  /** What happens to what is going on when it is removed. */
  readonly removal: string;
  /** Most people do without: it is not installed by itself, and its absence is no fault. */
  readonly optional?: true;
  /** The setting that says where it is, in the group `host`. */
  readonly path?: EnginePath;
  /** It comes and goes with this engine, whose setting says where it is too. */
  readonly partOf?: string;
  readonly version: EngineVersion;
  /** It is a Python library, and how that runs. */
  readonly python?: PythonLibrary;
  /** Ways to bring it onto this machine, the best first. */
  readonly sources: readonly EngineSource[];
}

export interface EnginePath {
  /** `ytDlpPath` */
  readonly setting: string;
  /** The environment's name of it: `YTDLP_PATH`. */
  readonly variable: string;
  /** What it is a path of, as a sentence. */
  readonly description: string;
}

export interface EngineVersion {
  /** What the executable is asked with. */
  readonly arguments: readonly string[];
  /** Of the answer's first line; its first group is the version. */
  readonly pattern: RegExp;
  /** `1.9`: older ones count as broken. */
  readonly oldest?: string;
}

/** A package of the Python registry with the only files of it that are accepted. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the wheel, hex; of each where it comes compiled. */
  readonly sha256: readonly string[];
}

export interface PythonLibrary {
  /** What is imported: `yt_dlp`. */
  readonly module: string;
  readonly version: string;
  readonly packages: readonly PinnedPackage[];
  /** What follows the interpreter in its launcher. */
  readonly run: string;
  /** What follows that, or the release's archive. */
  readonly options?: string;
  /** Packages without which the rest works as well. */
  readonly extras?: PythonExtras;
  /** What it means that there is no Python, as a sentence. */
  readonly without: string;
}

export interface PythonExtras {
  readonly title: string;
  readonly packages: readonly PinnedPackage[];
  /** What is being done while they are installed. */
  readonly step: string;
  /** What does not work without them, as the log says it behind "it". */
  readonly without: string;
}

/** Where an engine is installed from. */
export type EngineSource =
  /** The project's own release, checked against the list of SHA-256 sums beside it. */
  | {
      readonly from: 'release';
      /** Files are at `<releases>/download/<version>/`. */
      readonly releases: string;
      readonly version: string;
      readonly sums: string;
      asset(platform: InstallPlatform): string;
    }
  /** The wheels of its Python library. */
  | { readonly from: 'python' }
  /** A program that needs no Python, carried by a wheel of the Python registry. */
  | { readonly from: 'wheel'; readonly package: PinnedPackage }
  /** Packages of the distribution. */
  | { readonly from: 'system'; readonly packages: readonly string[] };

export interface InstallPlatform {
  readonly platform: NodeJS.Platform;
  readonly arch: NodeJS.Architecture;
  /** There is a Python that is new enough. */
  readonly python: boolean;
}
