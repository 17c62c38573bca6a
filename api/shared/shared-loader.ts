import { createReadStream } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { HarnessSpec } from '../../contracts/harness.js';
import { SHARED_WORKSPACE } from '../../contracts/ids.js';
import { RuntimeSpec } from '../../contracts/runtime.js';
import { derive } from '../../policy/capabilities.js';
import { contentHash, DatasetHash } from '../../store/content-hash.js';
import { DatasetStore } from '../../store/dataset.store.js';
import { HarnessStore } from '../../store/harness.store.js';
import { RuntimeStore } from '../../store/runtime.store.js';
import type { Principal } from '../common/caller.js';
import { Operator } from '../common/operator.js';
import { KINDS, type Named, refOf } from '../common/registration.js';
import { parseInput } from '../common/schema.pipe.js';
import { DatasetsService } from '../datasets/datasets.service.js';
import { parseDataset, parseHead, readCases } from '../datasets/upload.js';
import { HarnessesService } from '../harnesses/harnesses.service.js';
import { RuntimesService } from '../runtimes/runtimes.service.js';
import { readJson, type SharedFile, sharedFiles } from './shared-files.js';

const OPERATOR: Principal = { workspace: SHARED_WORKSPACE, subject: 'operator', role: 'operator', scope: 'admin' };

/** What a file holds. */
interface Prepared {
  spec: Named;
  hash: string;
  /** Of what is registered under the same name. */
  known?: string;
  /** Throws if something speaks against it that may change, as what the operator allows. */
  check(): unknown;
  register(): Promise<unknown>;
}

export interface Loaded {
  /** Names of what is new. */
  fresh: string[];
  /** What now speaks against files that are registered already. */
  warnings: string[];
}

/** Registers what the operator shares with all workspaces, from files. */
@Injectable()
export class SharedLoader {
  constructor(
    private readonly runtimes: RuntimesService,
    private readonly harnesses: HarnessesService,
    private readonly datasets: DatasetsService,
    private readonly runtimeStore: RuntimeStore,
    private readonly harnessStore: HarnessStore,
    private readonly datasetStore: DatasetStore,
    private readonly operator: Operator,
  ) {}

  /**
   * Looks at every file before it registers any: one that is not valid, or that changes what is registered, is named with
   * all others like it, and nothing is done. What is registered already stays as it is, so that any number of processes
   * may do this at once, and none is kept from starting by what has changed around it.
   */
  async load(dir: string): Promise<Loaded> {
    const { files, others } = await sharedFiles(dir);
    const faults = others.map((name) => `${name}: is neither <name>.json nor, of a dataset, <id>@<version>.jsonl`);
    const warnings: string[] = [];
    const prepared = new Map<string, Prepared & { file: string }>();
    for (const file of files) {
      try {
        const found = await this.prepare(file);
        const name = `${KINDS[file.folder]} ${found.spec.id}@${found.spec.version}`;
        const fault = whyNot(name, found, prepared.get(name));
        if (fault) faults.push(`${file.name}: ${fault}`);
        else prepared.set(name, { ...found, file: file.name });
        const objection = await objectionTo(found);
        if (objection) (found.known === undefined ? faults : warnings).push(`${file.name}: ${objection}`);
      } catch (error) {
        faults.push(`${file.name}: ${messageOf(error)}`);
      }
    }
    if (faults.length > 0) throw new Error(`nothing of ${dir} is shared:\n  ${faults.join('\n  ')}`);
    const fresh = [...prepared].filter(([, { known }]) => known === undefined);
    for (const [, { register }] of fresh) await register();
    return { fresh: fresh.map(([name]) => name), warnings };
  }

  private prepare(file: SharedFile): Promise<Prepared> {
    if (file.folder === 'runtimes') return this.prepareRuntime(file);
    if (file.folder === 'harnesses') return this.prepareHarness(file);
    return file.lines ? this.prepareLines(file, file.lines) : this.prepareDataset(file);
  }

  private async prepareRuntime(file: SharedFile): Promise<Prepared> {
    const asked = parseInput(RuntimeSpec, await readJson(file), 'the runtime');
    const spec = { ...asked, capabilities: derive(asked) };
    const known = await this.runtimeStore.find(SHARED_WORKSPACE, refOf(spec.id, spec.version));
    return {
      spec,
      hash: contentHash(spec),
      known: known && contentHash(known.spec),
      check: () => this.runtimes.checked(SHARED_WORKSPACE, spec),
      register: () => this.runtimes.register(OPERATOR, spec),
    };
  }

  private async prepareHarness(file: SharedFile): Promise<Prepared> {
    const spec = parseInput(HarnessSpec, await readJson(file), 'the harness');
    const known = await this.harnessStore.find(SHARED_WORKSPACE, refOf(spec.id, spec.version));
    return {
      spec,
      hash: contentHash(spec),
      known: known && contentHash(known.spec),
      check: () => this.harnesses.checked(spec),
      register: () => this.harnesses.register(OPERATOR, spec),
    };
  }

  private async prepareDataset(file: SharedFile): Promise<Prepared> {
    const body = await readJson(file);
    const dataset = parseDataset(body, {});
    const known = await this.datasetStore.find(SHARED_WORKSPACE, refOf(dataset.id, dataset.version));
    return {
      spec: dataset,
      hash: contentHash(dataset),
      known: known?.contentHash,
      check: () => undefined,
      register: () => this.datasets.register(OPERATOR, body, {}),
    };
  }

  /** Read once to be looked at, and once more to be stored. */
  private async prepareLines(file: SharedFile, name: Named): Promise<Prepared> {
    const head = parseHead(name);
    const hash = new DatasetHash();
    const reader = readCases(createReadStream(file.path), undefined, this.operator.uploadLimit);
    const ordinals = new Map<string, number>();
    let ordinal = 0;
    for await (const page of reader.pages()) {
      for (const evalCase of page) {
        hash.add(evalCase);
        const earlier = ordinals.get(evalCase.id);
        if (earlier === undefined) ordinals.set(evalCase.id, ordinal);
        else reader.repeated(ordinal, earlier);
        ordinal += 1;
      }
    }
    const known = await this.datasetStore.find(SHARED_WORKSPACE, refOf(head.id, head.version));
    return {
      spec: head,
      hash: hash.digest(head),
      known: known?.contentHash,
      check: () => undefined,
      register: () => this.datasets.upload(OPERATOR, { body: createReadStream(file.path) }, name),
    };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function objectionTo({ check }: Prepared): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function whyNot(name: string, { hash, known }: Prepared, twin: { file: string } | undefined): string | undefined {
  if (twin) return `${name} is in ${twin.file}, too`;
  if (known === undefined || known === hash) return undefined;
  return `${name} is registered with other content, and versions are immutable: give it a new version`;
}
