import { Module } from '@nestjs/common';
import { LogFollower } from './log-follower.js';
import { RunsController } from './runs.controller.js';
import { RunsService } from './runs.service.js';

@Module({ controllers: [RunsController], providers: [LogFollower, RunsService] })
export class RunsModule {}
