/** What is registered with Nomad, as its API has it: durations in nanoseconds, and no more fields than are set. */
export interface NomadJobDocument {
  ID: string;
  Name: string;
  Type: 'batch';
  Region?: string;
  Namespace: string;
  Datacenters: string[];
  Meta: Record<string, string>;
  TaskGroups: [NomadGroup];
}

export interface NomadGroup {
  Name: string;
  Count: 1;
  Constraints?: NomadConstraint[];
  RestartPolicy: { Attempts: 0; Mode: 'fail'; Interval: number; Delay: number };
  ReschedulePolicy: { Attempts: 0; Unlimited: false };
  /** Since Nomad 1.8. */
  Disconnect?: { Replace: false };
  /** Until Nomad 1.8. */
  StopAfterClientDisconnect?: number;
  EphemeralDisk: { SizeMB: number };
  Tasks: [NomadTask];
}

export interface NomadConstraint {
  LTarget: string;
  Operand: string;
  RTarget: string;
}

export interface NomadTask {
  Name: string;
  Driver: string;
  Config: NomadDriverConfig;
  Env: Record<string, string>;
  Meta?: Record<string, string>;
  Templates: NomadTemplate[];
  Resources: NomadResources;
  LogConfig: { MaxFiles: number; MaxFileSizeMB: number };
  KillTimeout: number;
  KillSignal: 'SIGTERM';
}

/** Of a container driver, or of one that starts a program of its host. */
export type NomadDriverConfig =
  | {
      image: string;
      entrypoint: string[];
      args: string[];
      force_pull: false;
      runtime?: string;
      auth?: { username: string; password: string };
    }
  | { command: string; args: string[] };

export interface NomadTemplate {
  EmbeddedTmpl: string;
  DestPath: string;
  ChangeMode: 'noop';
  Perms: string;
  LeftDelim: string;
  RightDelim: string;
}

export interface NomadResources {
  /** MHz. */
  CPU: number;
  MemoryMB: number;
  /** Since Nomad 1.10. */
  SecretsMB?: number;
  Devices?: { Name: 'nvidia/gpu'; Count: number }[];
}
