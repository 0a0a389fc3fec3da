/** Paths that forms and messages name as examples. */
export interface PathExamples {
  readonly photos: string;
  readonly project: string;
  readonly keyFile: string;
  /** Folder of a disk that is plugged in. */
  readonly drive: string;
  readonly dockerSocket: string;
}

const examples: Readonly<Record<'linux' | 'darwin' | 'win32', PathExamples>> = {
  linux: {
    photos: '/home/ada/Photos',
    project: '/home/ada/project',
    keyFile: '/home/ada/.ssh/id_ed25519',
    drive: '/mnt/usb',
    dockerSocket: '/var/run/docker.sock',
  },
  darwin: {
    photos: '/Users/ada/Photos',
    project: '/Users/ada/project',
    keyFile: '/Users/ada/.ssh/id_ed25519',
    drive: '/Volumes/USB',
    dockerSocket: '/var/run/docker.sock',
  },
  win32: {
    photos: 'C:/Users/ada/Photos',
    project: 'C:/Users/ada/project',
    keyFile: 'C:/Users/ada/.ssh/id_ed25519',
    drive: 'E:/',
    dockerSocket: '//./pipe/docker_engine',
  },
};

/** Returns the examples for the system of the computer that Homeport runs on; those of Linux for an unknown system. */
export function getPathExamples(platform: string): PathExamples {
  return platform === 'darwin' || platform === 'win32' ? examples[platform] : examples.linux;
}
